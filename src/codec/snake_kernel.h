// The snake activation's inner loop, for processors.
#pragma once

#include <ATen/core/Tensor.h>

namespace remora::codec {

// out[r][c] = x[r][c] + inverse[c] * sin(alpha[c] * x[r][c])^2, computed in float32 and rounded
// once. x and out: [rows, channels], contiguous, float32, bfloat16 or float16 each; out may be x.
// alpha, inverse: [channels] float32, contiguous. The squared sine is within 3e-7 of exact for
// angles up to 1e5, and between 0 and 1 for every finite angle. Runs on the threads LibTorch has
// for this process.
void snake_rows(const at::Tensor& x, const at::Tensor& alpha, const at::Tensor& inverse,
                const at::Tensor& out);

}  // namespace remora::codec
