// Root-mean-square normalisation in its two roundings.
#pragma once

#include <ATen/core/Tensor.h>

namespace remora::nn {

// x / sqrt(mean(x^2) + eps) over the last axis in float32, rounded to x's dtype, then multiplied
// by `weight` in that dtype: the block and final norms. x: [..., dim], weight: [dim].
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps);

// The same with one rounding at the end: q_norm and k_norm.
at::Tensor rms_norm_single_rounding(const at::Tensor& x, const at::Tensor& weight, double eps);

}  // namespace remora::nn
