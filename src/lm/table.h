// Single rows of a look-up table in CPU memory, as float32.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>

namespace remora::lm {

// table: [rows, columns] contiguous, float32, bf16 or float16; out: [columns]. No allocation.
void read_row(const at::Tensor& table, int64_t row, std::span<float> out);
void add_row(const at::Tensor& table, int64_t row, std::span<float> out);

}  // namespace remora::lm
