// Latents to waveform: the convolutional decoder.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "codec/config.h"
#include "codec/conv.h"
#include "codec/residual_unit.h"
#include "codec/snake.h"

namespace remora::codec {

class Decoder {
 public:
  // `block_elements`: activations are worked on in parts of about this many numbers, so that they
  // stay in the processor's cache; the result does not depend on it beyond rounding.
  Decoder(Weights& weights, StateLayout& layout, const CodecConfig& config, int64_t block_elements);

  // x: [n, latent_dim] float32, n >= 1. Returns the waveform, [n * product of decoder_rates]
  // float32 in (-1, 1).
  at::Tensor forward(Pass& pass, const at::Tensor& x) const;

 private:
  struct Block {
    std::string module;
    int64_t stride;
    int64_t channels;  // behind the block
    Snake before;
    CausalConvTranspose1d widen;
    std::vector<ResidualUnit> units;
  };
  Block make_block(Weights& weights, StateLayout& layout, const CodecConfig& config,
                   int64_t index) const;
  // [n, in] -> [n * stride, channels], float32 both
  at::Tensor run_block(Pass& pass, const Block& block, const at::Tensor& x) const;
  // Everything from block `index` on, depth first: a part of the rows goes all the way to the
  // waveform before the next part is begun. Writes into `wave` and returns what is left of it.
  at::Tensor run_from(Pass& pass, size_t index, const at::Tensor& x, const at::Tensor& wave) const;
  at::Tensor finish(Pass& pass, const at::Tensor& x, const at::Tensor& wave) const;

  int64_t block_elements_;
  int64_t upsampling_ = 1;  // samples per latent
  CausalConv1d first_;
  std::vector<Block> blocks_;
  Snake before_last_;
  CausalConv1d last_;
};

}  // namespace remora::codec
