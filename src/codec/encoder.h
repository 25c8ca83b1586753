// Waveform to latents: the convolutional encoder.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string>
#include <vector>

#include "codec/config.h"
#include "codec/conv.h"
#include "codec/residual_unit.h"
#include "codec/snake.h"
#include "codec/window_transformer.h"

namespace remora::codec {

class Encoder {
 public:
  // `block_elements`: as Decoder's.
  Encoder(Weights& weights, StateLayout& layout, const CodecConfig& config, int64_t block_elements);

  // samples: [n] float32, whole frames. Returns [n / product of encoder_rates, latent_dim] float32.
  at::Tensor forward(Pass& pass, const at::Tensor& samples) const;

 private:
  struct Block {
    std::string module;
    int64_t stride;
    int64_t in, out;  // channels
    std::vector<ResidualUnit> units;
    Snake before;
    CausalConv1d narrow;
    std::optional<WindowTransformer> transformer;
  };
  Block make_block(Weights& weights, StateLayout& layout, const CodecConfig& config,
                   int64_t index) const;
  // [n, in] -> [n / stride, out], float32 both; x is written over.
  at::Tensor run_block(Pass& pass, const Block& block, const at::Tensor& x) const;
  // The convolutions on one part: as run_block, without the transformer.
  at::Tensor convolve(Pass& pass, const Block& block, const at::Tensor& x) const;

  int64_t block_elements_;
  CausalConv1d first_;
  std::vector<Block> blocks_;
  std::string before_last_module_;
  Snake before_last_;
  CausalConv1d last_;
};

}  // namespace remora::codec
