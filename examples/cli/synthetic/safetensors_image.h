// A .safetensors file that exists only as a rule: any range of its bytes is made when read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "synthetic/tensor_spec.h"

namespace remora::cli {

class SafetensorsImage {
 public:
  SafetensorsImage(std::vector<TensorSpec> tensors, uint64_t seed);

  uint64_t size() const { return size_; }
  // The range must lie inside the file. Any thread.
  void read(uint64_t offset, std::span<std::byte> out) const;

 private:
  std::vector<TensorSpec> tensors_;
  std::vector<uint64_t> starts_;  // of each tensor in the file, ascending
  std::string header_;            // length field, JSON and padding
  uint64_t seed_;
  uint64_t size_ = 0;
};

}  // namespace remora::cli
