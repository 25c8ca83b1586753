// Causal convolutions on rows: activations are [time, channels], contiguous.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "codec/carried_rows.h"
#include "codec/weights.h"

namespace remora::codec {

// y[t] = bias + sum over taps j of W_j x[t * stride + j * dilation - carried], where rows before
// the start of the stream are zero.
class CausalConv1d {
 public:
  struct Shape {
    int64_t in = 1;
    int64_t out = 1;
    int64_t kernel = 1;
    int64_t dilation = 1;
    int64_t stride = 1;
    bool wide = false;  // float32 whatever the compute type: at the waveform's ends
    // What the first output needs before its own step.
    int64_t carried() const { return (kernel - 1) * dilation + 1 - stride; }
  };

  // Reads `module`.conv: weight in any spelling, [out, in, kernel], and bias.
  CausalConv1d(Weights& weights, StateLayout& layout, const std::string& module,
               const Shape& shape);

  // The input buffer, for a caller that writes the new rows in place; close() ends it.
  at::Tensor open(const Pass& pass, int64_t n) const { return carried_.open(pass, n); }
  at::Tensor fresh(const at::Tensor& rows) const { return carried_.fresh(rows); }
  // [n / stride, out] of the compute type; n must be a multiple of the stride.
  at::Tensor close(Pass& pass, const at::Tensor& rows) const;

  // All three for x [n, in].
  at::Tensor forward(Pass& pass, const at::Tensor& x) const {
    return close(pass, carried_.joined(pass, x));
  }

 private:
  enum class Path {
    kConvolution,  // stock convolution on a channels-last view: no copies
    kMatrix,       // one product of the unfolded rows: strided layers and narrow inputs
    kNarrow,       // product to [rows, kernel * out], then sums along diagonals: narrow outputs
  };
  static Path path_for(const Shape& shape);
  at::Tensor packed(const at::Tensor& weight) const;

  at::Tensor convolve(const at::Tensor& rows) const;
  at::Tensor multiply(const at::Tensor& rows) const;
  at::Tensor add_diagonals(const at::Tensor& rows) const;

  std::string module_;
  Shape shape_;
  Path path_;
  CarriedRows carried_;
  at::Tensor weight_;  // laid out for path_
  at::Tensor bias_;    // [out]
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

  // As CausalConv1d's; the result is [n * stride, out] of the compute type.
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
  at::Tensor weight_;  // [taps * in, stride * out]: one product makes all phases of a step
  at::Tensor bias_;    // [stride * out]
};

}  // namespace remora::codec
