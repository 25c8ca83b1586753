// Causal convolutions on rows: activations are [time, channels], contiguous.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <string>

#include "codec/carried_rows.h"
#include "codec/row_kernel.h"
#include "codec/weights.h"

namespace remora::codec {

// y[t] = bias + sum over taps j of W_j x[t * stride + j * dilation - carried], where rows before
// the start of the stream are zero.
class CausalConv1d {
 public:
  using Shape = ConvShape;

  // Reads `module`.conv: weight in any spelling, [out, in, kernel], and bias.
  CausalConv1d(Weights& weights, StateLayout& layout, const std::string& module,
               const Shape& shape);

  // The input buffer, for a caller that writes the new rows in place; close() ends it.
  at::Tensor open(const Pass& pass, int64_t n) const { return carried_.open(pass, n); }
  at::Tensor fresh(const at::Tensor& rows) const { return carried_.fresh(rows); }
  // [n / stride, out] of the compute type; n must be a multiple of the stride.
  at::Tensor close(Pass& pass, const at::Tensor& rows) const {
    keep(pass, rows);
    return apply(pass, rows);
  }
  // close() in two steps, for a caller that computes on several threads: the state moves on once,
  // and slices of the rows (with the carried() rows before each) are convolved by themselves.
  void keep(Pass& pass, const at::Tensor& rows) const { carried_.keep(pass, rows); }
  at::Tensor apply(const Pass& pass, const at::Tensor& rows) const;
  // apply(), added to y: float32, contiguous.
  void add_to(const Pass& pass, const at::Tensor& rows, const at::Tensor& y) const;
  int64_t carried() const { return carried_.count(); }
  int64_t granule() const { return kernel_->granule(); }

  // All of it for x [n, in].
  at::Tensor forward(Pass& pass, const at::Tensor& x) const {
    return close(pass, carried_.joined(pass, x));
  }
  // The same in float32.
  at::Tensor forward_wide(Pass& pass, const at::Tensor& x) const;

 private:
  std::string module_;
  CarriedRows carried_;
  std::shared_ptr<const RowKernel> kernel_;  // null when the tensors did not fit
};

// Transposed convolution that keeps only the causal side: n rows in, n * stride out. The kernel is
// the stride (nothing carried) or a multiple of it (twice: one row carried).
//   y[t * stride + r] = bias + W_r x[t] + W_{r + stride} x[t - 1] + ...
class CausalConvTranspose1d {
 public:
  struct Shape {
    int64_t in = 1;
    int64_t out = 1;
    int64_t kernel = 2;
    int64_t stride = 2;
    int64_t taps() const { return kernel / stride; }
  };

  // Reads `module`.conv: weight in any spelling, [in, out, kernel], and bias.
  CausalConvTranspose1d(Weights& weights, StateLayout& layout, const std::string& module,
                        const Shape& shape);

  // As CausalConv1d's; the result is [n * stride, out] float32.
  at::Tensor open(const Pass& pass, int64_t n) const { return carried_.open(pass, n); }
  at::Tensor fresh(const at::Tensor& rows) const { return carried_.fresh(rows); }
  at::Tensor close(Pass& pass, const at::Tensor& rows) const;
  at::Tensor forward(Pass& pass, const at::Tensor& x) const {
    return close(pass, carried_.joined(pass, x));
  }

 private:
  std::string module_;
  Shape shape_;
  CarriedRows carried_;
  // A causal convolution to all phases of a step at once, [stride * out] wide.
  std::shared_ptr<const RowKernel> kernel_;  // null when the tensors did not fit
};

}  // namespace remora::codec
