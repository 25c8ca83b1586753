#include "io/safetensors_writer.h"

#include <c10/core/ScalarType.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "base/concat.h"
#include "base/error.h"
#include "io/output_file.h"

namespace remora::io {
namespace {

constexpr size_t kAlignment = 64;               // bytes: a cache line
constexpr uint64_t kChunk = uint64_t{8} << 20;  // bytes between two looks at `stop`

std::string_view type_name(const NamedTensor& named) {
  switch (named.tensor.scalar_type()) {
    case at::kByte:
      return "U8";
    case at::kFloat:
      return "F32";
    case at::kBFloat16:
      return "BF16";
    case at::kHalf:
      return "F16";
    default:
      throw Error(Status::kInternal, concat("tensor ", named.name, " of a type that is not saved"));
  }
}

// Where one type may lie after another without a gap, which the format does not allow: packed bytes
// come in whole cache lines, so what follows them begins at one.
int place_of(const NamedTensor& named) {
  const at::ScalarType type = named.tensor.scalar_type();
  return type == at::kByte ? 0 : type == at::kFloat ? 1 : 2;
}

std::string header_of(const std::vector<NamedTensor>& tensors,
                      std::span<const std::pair<std::string, std::string>> metadata) {
  nlohmann::ordered_json header;
  nlohmann::ordered_json& about = header["__metadata__"] = nlohmann::ordered_json::object();
  for (const auto& [key, value] : metadata) about[key] = value;
  uint64_t offset = 0;  // from the end of the header
  for (const NamedTensor& named : tensors) {
    header[named.name] = {{"dtype", type_name(named)},
                          {"shape", named.tensor.sizes().vec()},
                          {"data_offsets", {offset, offset + named.tensor.nbytes()}}};
    offset += named.tensor.nbytes();
  }
  std::string json = header.dump();
  const size_t with_length = sizeof(uint64_t) + json.size();
  json.append((kAlignment - with_length % kAlignment) % kAlignment, ' ');
  std::string out;
  for (int shift = 0; shift < 64; shift += 8) {
    out.push_back(static_cast<char>(static_cast<uint64_t>(json.size()) >> shift));
  }
  return out + json;
}

void check_stop(const std::function<bool(float)>& stop, const std::string& path, uint64_t done,
                uint64_t total) {
  const float fraction =
      static_cast<float>(done) / static_cast<float>(std::max<uint64_t>(total, 1));
  if (stop && stop(fraction)) {
    throw Error(Status::kCancelled, concat(path, ": writing it was stopped; nothing was kept"));
  }
}

}  // namespace

void write_safetensors(const std::string& utf8_path, std::vector<NamedTensor> tensors,
                       std::span<const std::pair<std::string, std::string>> metadata,
                       const std::function<bool(float)>& stop) {
  std::stable_sort(tensors.begin(), tensors.end(), [](const NamedTensor& a, const NamedTensor& b) {
    return place_of(a) < place_of(b);
  });
  const std::string header = header_of(tensors, metadata);
  uint64_t total = header.size();
  for (const NamedTensor& named : tensors) total += named.tensor.nbytes();

  OutputFile file(utf8_path);
  check_stop(stop, utf8_path, 0, total);
  file.write_at(0, std::as_bytes(std::span(header)));
  for (const NamedTensor& named : tensors) {
    std::span rest(static_cast<const std::byte*>(named.tensor.const_data_ptr()),
                   named.tensor.nbytes());
    while (!rest.empty()) {
      const auto piece = rest.first(std::min<uint64_t>(rest.size(), kChunk));
      file.write_at(file.size(), piece);
      rest = rest.subspan(piece.size());
      check_stop(stop, utf8_path, file.size(), total);
    }
  }
  file.commit();
}

}  // namespace remora::io
