// Rotary position embedding on interleaved pairs, with the bf16-rounded table the models were
// trained with (LM.md section 3.4, CODEC.md section 3.7).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace remora::nn {

// Rows `first .. first + count - 1` of the table: float32 values that are exactly bf16 numbers.
// [count, head_dim / 2, 2] = (cos, sin) of position * base^(-2j / head_dim).
at::Tensor rope_table(int64_t first, int64_t count, int64_t head_dim, double base);

// Rotates pairs (2j, 2j+1) in float32 and rounds once to x's dtype.
// x: [..., seq, head_dim]; table: [seq, head_dim / 2, 2] float32. Returns x's shape.
at::Tensor rope_rotate(const at::Tensor& x, const at::Tensor& table);

}  // namespace remora::nn
