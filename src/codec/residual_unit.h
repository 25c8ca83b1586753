// Residual unit of the convolutional encoder and decoder.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "codec/conv.h"
#include "codec/snake.h"

namespace remora::codec {

// x + conv1x1(snake(conv7 with dilation(snake(x)))).
class ResidualUnit {
 public:
  ResidualUnit(Weights& weights, StateLayout& layout, const std::string& module, int64_t channels,
               int64_t dilation, double snake_eps);

  // x: [rows, channels] float32, the residual stream; written over with the result.
  void forward(Pass& pass, at::Tensor x) const;

 private:
  std::string module_;
  Snake before_wide_;
  CausalConv1d wide_;
  Snake before_point_;
  CausalConv1d point_;
};

}  // namespace remora::codec
