// The codec's periodic activation.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "codec/weights.h"

namespace remora::codec {

// snake(x) = x + sin(alpha x)^2 / (alpha + eps), one alpha per channel. Computed in float32
// whatever the tensors' types: a squared sine of a rounded angle would be noise.
class Snake {
 public:
  // Reads tensor `module`.alpha, [1, channels, 1].
  Snake(Weights& weights, const std::string& module, int64_t channels, double eps);

  // x: [rows, channels], float32 or out's type; out: [rows, channels] of the compute type. Both
  // contiguous; out may be x itself.
  void forward(const at::Tensor& x, at::Tensor out) const;

 private:
  at::Tensor alpha_;    // [channels], float32
  at::Tensor inverse_;  // [channels], float32: 1 / (alpha + eps)
};

}  // namespace remora::codec
