// A matrix applied to rows: y = x W^T + b.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "nn/cpu/kernels.h"

namespace remora::nn {

// How a matrix's numbers are kept; see cpu::MatrixKind.
struct WeightFormat {
  cpu::MatrixKind kind = cpu::MatrixKind::kF32;
  int64_t group = 0;  // kInt4: 32 or 64 columns share a scale
};

// Immutable after construction; safe from several threads.
class Linear {
 public:
  Linear() = default;
  // As it is. weight: [out, in]; bias: [out] or undefined, both in the activations' dtype.
  explicit Linear(at::Tensor weight, at::Tensor bias = {});
  // Quantised to `format` (kInt8 or kInt4), in CPU memory of its own; `weight` is not kept. Of a
  // `weight` on the meta device the result has the size and no numbers.
  static Linear quantised(const at::Tensor& weight, const WeightFormat& format,
                          at::Tensor bias = {});

  // x: [n, in] -> [n, out] in x's dtype. A quantised matrix is brought to x's dtype for the call.
  at::Tensor operator()(const at::Tensor& x) const;

  int64_t in_features() const { return in_; }
  int64_t out_features() const { return out_; }
  // Memory of the weights, mapped files included.
  uint64_t bytes() const;
  // For the kernels of the CPU; data is null where they cannot read the matrix (another device,
  // float16, rows that are not contiguous).
  const cpu::MatrixView& view() const { return view_; }

 private:
  at::Tensor dense(at::ScalarType dtype) const;
  void keep_bias(at::Tensor bias);

  int64_t in_ = 0, out_ = 0;
  at::Tensor weight_;  // dense [out, in], or packed bytes
  at::Tensor scales_;  // quantised only: bytes
  at::Tensor bias_;
  at::Tensor bias_f32_;
  cpu::MatrixView view_;
};

}  // namespace remora::nn
