#include "nn/linear.h"

#include <ATen/ops/linear.h>

#include <utility>

namespace remora::nn {

Linear::Linear(at::Tensor weight, at::Tensor bias)
    : weight_(std::move(weight)), bias_(std::move(bias)) {}

at::Tensor Linear::operator()(const at::Tensor& x) const { return at::linear(x, weight_, bias_); }

uint64_t Linear::bytes() const { return weight_.nbytes() + (bias_.defined() ? bias_.nbytes() : 0); }

}  // namespace remora::nn
