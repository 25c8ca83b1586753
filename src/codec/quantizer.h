// Latents to codes: the encoding half of the quantiser.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "codec/codebook.h"
#include "codec/config.h"
#include "codec/conv.h"
#include "codec/convnext.h"
#include "codec/window_transformer.h"

namespace remora::codec {

// Latents come down to the frame rate and pass through a transformer; then one codebook after
// another takes the nearest entry to what the ones before it left.
class Quantizer {
 public:
  Quantizer(Weights& weights, StateLayout& layout, const CodecConfig& config);

  // x: [frames * latents_per_frame, latent_dim] float32. Returns int64 [1 + residual, frames];
  // `residual` codebooks, at most the configured number, follow the semantic one.
  at::Tensor forward(Pass& pass, const at::Tensor& x, int64_t residual) const;

 private:
  struct Downsample {
    CausalConv1d narrow;
    ConvNeXt refine;
  };
  // z: [frames, latent_dim]
  at::Tensor search(const Pass& pass, const at::Tensor& z, int64_t residual) const;

  std::vector<Downsample> downsample_;
  WindowTransformer pre_module_;
  Codebook semantic_;
  std::vector<Codebook> residual_;
};

}  // namespace remora::codec
