// Codes to latents: the decoding half of the quantiser.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "codec/codebook.h"
#include "codec/config.h"
#include "codec/conv.h"
#include "codec/convnext.h"
#include "codec/window_transformer.h"

namespace remora::codec {

// The codebooks' contributions are added, pass through a transformer, and are brought to the
// decoder's rate.
class Dequantizer {
 public:
  Dequantizer(Weights& weights, StateLayout& layout, const CodecConfig& config);

  // codes: [rows, n] int64, rows >= 1, nothing negative; an index past a table's end counts as its
  // last entry. Returns [n * latents_per_frame, latent_dim] float32.
  at::Tensor forward(Pass& pass, const at::Tensor& codes) const;

 private:
  struct Upsample {
    CausalConvTranspose1d widen;
    ConvNeXt refine;
  };
  // [n, latent_dim]
  at::Tensor look_up(const Pass& pass, const at::Tensor& codes) const;

  Codebook semantic_;
  std::vector<Codebook> residual_;
  WindowTransformer post_module_;
  std::vector<Upsample> upsample_;
};

}  // namespace remora::codec
