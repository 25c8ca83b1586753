// A matrix applied to rows: y = x W^T + b.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace remora::nn {

// Immutable after construction; safe from several threads.
class Linear {
 public:
  Linear() = default;
  // weight: [out, in]; bias: [out] or undefined. Both in the dtype the activations have.
  explicit Linear(at::Tensor weight, at::Tensor bias = {});

  // x: [n, in] -> [n, out]
  at::Tensor operator()(const at::Tensor& x) const;

  int64_t in_features() const { return weight_.size(1); }
  int64_t out_features() const { return weight_.size(0); }
  // Memory of the weights, mapped files included.
  uint64_t bytes() const;

 private:
  at::Tensor weight_;
  at::Tensor bias_;
};

}  // namespace remora::nn
