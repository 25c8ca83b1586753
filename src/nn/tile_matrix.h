// A bfloat16 matrix, or a convolution along time, for processors with a tile unit.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "nn/cpu/tiles.h"

namespace remora::nn {

// y[t] = bias + sum over taps j of W_j x[t + j * dilation]. Sums and bias in float32; the input is
// bfloat16, contiguous, [n + (taps - 1) * dilation, in]. Immutable; safe from several threads.
class TileMatrix {
 public:
  // Whether a product [out, taps of in] of that type is computed in tiles here.
  static bool fits(at::Device device, at::ScalarType type, int64_t out, int64_t in);

  TileMatrix() = default;
  // weight: [out, in, taps]; one on the meta device gives the size and no numbers. bias: [out] or
  // undefined, any floating type.
  TileMatrix(const at::Tensor& weight, const at::Tensor& bias, int64_t dilation = 1);

  at::Tensor apply(const at::Tensor& x) const;       // [n, out], bfloat16
  at::Tensor apply_wide(const at::Tensor& x) const;  // [n, out], float32
  // y: [n, out], float32, contiguous; the result is added.
  void add_to(const at::Tensor& x, const at::Tensor& y) const;

  uint64_t bytes() const;

 private:
  int64_t rows_of(const at::Tensor& x) const { return x.size(0) - (taps_ - 1) * dilation_; }
  void multiply(const at::Tensor& x, const at::Tensor& y, cpu::TileProduct::Result result) const;

  int64_t out_ = 0, in_ = 0, taps_ = 1, dilation_ = 1;
  at::Tensor tiles_;  // bfloat16 [out / 16, taps * in / 32, 16, 16, 2]
  at::Tensor bias_;   // float32 [out] or undefined
};

// Runs the product over all outputs on the process's threads; within a parallel region on this one.
void multiply_tiles(const cpu::TileProduct& product, int64_t outputs);

}  // namespace remora::nn
