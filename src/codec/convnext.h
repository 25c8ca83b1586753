// ConvNeXt block behind each change of rate inside the quantiser.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "codec/carried_rows.h"
#include "codec/config.h"
#include "codec/matrix.h"
#include "codec/weights.h"

namespace remora::codec {

// x + gamma * W2(gelu(W1(layer_norm(depthwise causal convolution of x)))), gelu in its exact form.
class ConvNeXt {
 public:
  ConvNeXt(Weights& weights, StateLayout& layout, const std::string& module,
           const CodecConfig& config);

  // [rows, latent_dim] float32 in and out.
  at::Tensor forward(Pass& pass, const at::Tensor& x) const;

 private:
  // [n, dim], float32
  at::Tensor depthwise(const at::Tensor& rows) const;

  std::string module_;
  int64_t kernel_;
  double norm_eps_;
  CarriedRows carried_;
  at::Tensor taps_, depth_bias_;        // [kernel, dim], [dim], float32
  at::Tensor norm_weight_, norm_bias_;  // [dim], float32
  Matrix expand_, contract_;            // dim -> ratio * dim -> dim
  at::Tensor gamma_;                    // [dim], float32
};

}  // namespace remora::codec
