#include "codec/fingerprint.h"

#include <algorithm>
#include <string>

#include "base/bytes.h"
#include "codec/module_names.h"

namespace remora::codec {

uint64_t table_fingerprint(Weights& weights, const CodecConfig& config) {
  ByteWriter tables;
  const auto add = [&](const std::string& codebook, int64_t entries) {
    const at::Tensor table =  // [entries, codebook_dim]
        weights.plain(codebook + ".codebook.weight", {entries, config.codebook_dim}).contiguous();
    tables.value(entries);
    tables.bytes(std::as_bytes(
        std::span(table.const_data_ptr<float>(), static_cast<size_t>(table.numel()))));
  };
  add(kSemanticCodebook, config.semantic_entries);
  for (int64_t i = 0; i < config.residual_codebooks; ++i) {
    add(residual_codebook(i), config.residual_entries);
  }
  return std::max<uint64_t>(checksum(tables.written()), 1);
}

}  // namespace remora::codec
