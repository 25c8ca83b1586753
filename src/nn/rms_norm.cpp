#include "nn/rms_norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/mean.h>
#include <ATen/ops/rsqrt.h>

namespace remora::nn {
namespace {

// float32, [..., dim]
at::Tensor normalised(const at::Tensor& x, double eps) {
  const at::Tensor wide = x.to(at::kFloat);
  return wide * at::rsqrt((wide * wide).mean(-1, /*keepdim=*/true) + eps);
}

}  // namespace

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& weight, double eps) {
  return normalised(x, eps).to(x.scalar_type()) * weight;
}

at::Tensor rms_norm_single_rounding(const at::Tensor& x, const at::Tensor& weight, double eps) {
  return (normalised(x, eps) * weight.to(at::kFloat)).to(x.scalar_type());
}

}  // namespace remora::nn
