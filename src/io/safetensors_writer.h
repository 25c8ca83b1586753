// A .safetensors file written from tensors in memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace remora::io {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;  // CPU, contiguous, of a type that read_safetensors() knows
};

// The file appears under its name when it is whole, in place of one that is there. Its data begin
// at a multiple of 64 bytes and bytes come before float32 before 16-bit floats, so that a mapped
// file has every tensor where its type may lie. `metadata` becomes __metadata__. `stop` is told the
// fraction done and answers whether to stop; it may be empty.
// Throws Error{kIo} when the file cannot be written, kCancelled when `stop` said so; nothing is
// left behind then.
void write_safetensors(const std::string& utf8_path, std::vector<NamedTensor> tensors,
                       std::span<const std::pair<std::string, std::string>> metadata,
                       const std::function<bool(float)>& stop);

}  // namespace remora::io
