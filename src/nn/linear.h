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

// A quantised matrix as the kernels read it: see cpu::MatrixKind and cpu::packed_shape.
struct PackedMatrix {
  at::Tensor data;    // uint8 [blocks, columns / 4 (kInt8) or / 8 (kInt4), 16 rows, 4]
  at::Tensor scales;  // kInt8: float32 [blocks, 16 rows]; kInt4: float16 [blocks, groups, 16 rows]
};
// Of a matrix [out, in], on the meta device: shapes and types alone.
PackedMatrix packed_form(const WeightFormat& format, int64_t out, int64_t in);

// How far a quantised matrix is from the one it was made of.
struct QuantisationError {
  uint64_t numbers = 0;
  double squared = 0;    // sum of (quantised - original)^2
  double reference = 0;  // sum of original^2
  double largest = 0;    // |quantised - original|
  double size = 0;       // the largest |original|

  void add(const QuantisationError& other);
  // The root of squared over reference; 0 for a matrix of zeros.
  double relative() const;
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

  // The form that quantised() makes, made before: `data` and `scales` as packed() describes them,
  // used in place. Their shapes are the caller's to check.
  static Linear from_packed(const WeightFormat& format, int64_t out, int64_t in,
                            PackedMatrix packed, at::Tensor bias = {});

  // x: [n, in] -> [n, out] in x's dtype. A quantised matrix is brought to x's dtype for the call.
  at::Tensor operator()(const at::Tensor& x) const;

  int64_t in_features() const { return in_; }
  int64_t out_features() const { return out_; }
  // Memory of the weights, mapped files included.
  uint64_t bytes() const;
  // The matrix without its bias; both undefined where it is not quantised.
  PackedMatrix packed() const;
  const at::Tensor& bias() const { return bias_; }
  // Against `original`, [out, in] in any floating type.
  QuantisationError error_against(const at::Tensor& original) const;
  // For the kernels of the CPU; data is null where they cannot read the matrix (another device,
  // float16, rows that are not contiguous).
  const cpu::MatrixView& view() const { return view_; }

 private:
  at::Tensor dense(at::ScalarType dtype) const;
  void keep_bias(at::Tensor bias);
  void keep_packed(const WeightFormat& format, int64_t out, int64_t in, PackedMatrix packed);

  int64_t in_ = 0, out_ = 0;
  at::Tensor weight_;  // dense [out, in], or PackedMatrix::data
  at::Tensor scales_;  // quantised only: PackedMatrix::scales
  at::Tensor bias_;
  at::Tensor bias_f32_;
  cpu::MatrixView view_;
};

}  // namespace remora::nn
