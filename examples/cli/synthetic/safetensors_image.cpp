#include "synthetic/safetensors_image.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

namespace remora::cli {

SafetensorsImage::SafetensorsImage(std::vector<TensorSpec> tensors, uint64_t seed)
    : tensors_(std::move(tensors)), seed_(seed) {
  nlohmann::ordered_json index = {{"__metadata__", {{"format", "pt"}}}};
  uint64_t offset = 0;  // from the end of the header
  for (const TensorSpec& tensor : tensors_) {
    index[tensor.name] = {{"dtype", tensor.dtype == Dtype::kBf16 ? "BF16" : "F32"},
                          {"shape", tensor.shape},
                          {"data_offsets", {offset, offset + tensor.bytes()}}};
    starts_.push_back(offset);
    offset += tensor.bytes();
  }
  std::string json = index.dump();
  json.append((8 - json.size() % 8) % 8, ' ');  // data starts at a multiple of 8, as is usual
  for (int shift = 0; shift < 64; shift += 8) {
    header_.push_back(static_cast<char>(static_cast<uint64_t>(json.size()) >> shift));
  }
  header_ += json;
  for (uint64_t& start : starts_) start += header_.size();
  size_ = header_.size() + offset;
}

void SafetensorsImage::read(uint64_t offset, std::span<std::byte> out) const {
  if (!out.empty() && offset < header_.size()) {
    const auto n = std::min<uint64_t>(out.size(), header_.size() - offset);
    std::memcpy(out.data(), header_.data() + offset, n);
    offset += n;
    out = out.subspan(n);
  }
  if (out.empty()) return;
  auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
  for (auto i = static_cast<size_t>(next - starts_.begin()) - 1; !out.empty(); ++i) {
    const uint64_t inside = offset - starts_[i];
    const auto n = std::min<uint64_t>(out.size(), tensors_[i].bytes() - inside);
    generate(tensors_[i], seed_, inside, out.first(n));
    offset += n;
    out = out.subspan(n);
  }
}

}  // namespace remora::cli
