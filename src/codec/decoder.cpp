#include "codec/decoder.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tanh.h>

#include <algorithm>
#include <array>

#include "base/concat.h"

namespace remora::codec {
namespace {

constexpr int64_t kKernel = 7;
constexpr std::array<int64_t, 3> kDilations = {1, 3, 9};

std::string stage(size_t index) { return concat("decoder.model.", index); }

}  // namespace

Decoder::Decoder(Weights& weights, StateLayout& layout, const CodecConfig& config,
                 int64_t block_elements)
    : block_elements_(block_elements),
      first_(weights, layout, stage(0),
             {.in = config.latent_dim, .out = config.decoder_dim, .kernel = kKernel}),
      before_last_(weights, stage(config.decoder_rates.size() + 1),
                   config.decoder_channels(static_cast<int64_t>(config.decoder_rates.size()) - 1),
                   config.snake_eps),
      last_(weights, layout, stage(config.decoder_rates.size() + 2),
            {.in = config.decoder_channels(static_cast<int64_t>(config.decoder_rates.size()) - 1),
             .out = 1,
             .kernel = kKernel,
             .wide = true}) {
  for (size_t i = 0; i < config.decoder_rates.size(); ++i) {
    blocks_.push_back(make_block(weights, layout, config, static_cast<int64_t>(i)));
    upsampling_ *= config.decoder_rates[i];
  }
}

Decoder::Block Decoder::make_block(Weights& weights, StateLayout& layout, const CodecConfig& config,
                                   int64_t index) const {
  const std::string module = stage(static_cast<size_t>(index) + 1);
  const int64_t in = config.decoder_channels(index - 1);
  const int64_t out = config.decoder_channels(index);
  const int64_t stride = config.decoder_rates[static_cast<size_t>(index)];
  Block block{.module = module,
              .stride = stride,
              .channels = out,
              .before = Snake(weights, module + ".block.0", in, config.snake_eps),
              .widen = CausalConvTranspose1d(
                  weights, layout, module + ".block.1",
                  {.in = in, .out = out, .kernel = 2 * stride, .stride = stride}),
              .units = {}};
  for (size_t i = 0; i < kDilations.size(); ++i) {
    block.units.emplace_back(weights, layout, concat(module, ".block.", i + 2), out, kDilations[i],
                             config.snake_eps);
  }
  return block;
}

at::Tensor Decoder::run_block(Pass& pass, const Block& block, const at::Tensor& x) const {
  at::Tensor rows = block.widen.open(pass, x.size(0));  // [1 + n, in]
  block.before.forward(x, block.widen.fresh(rows));
  pass.note(block.module, ".block.0", block.widen.fresh(rows));
  at::Tensor y = block.widen.close(pass, rows);  // [n * stride, channels]
  for (const ResidualUnit& unit : block.units) unit.forward(pass, y);
  pass.note(block.module, "", y);
  return y;
}

at::Tensor Decoder::finish(Pass& pass, const at::Tensor& x, const at::Tensor& wave) const {
  at::Tensor rows = last_.open(pass, x.size(0));
  before_last_.forward(x, last_.fresh(rows));
  const at::Tensor y = last_.close(pass, rows).squeeze(1);  // [n]
  wave.narrow(0, 0, y.size(0)).copy_(at::tanh(y));
  return wave.narrow(0, y.size(0), wave.size(0) - y.size(0));
}

at::Tensor Decoder::run_from(Pass& pass, size_t index, const at::Tensor& x,
                             const at::Tensor& wave) const {
  if (index == blocks_.size()) return finish(pass, x, wave);
  const Block& block = blocks_[index];
  const int64_t part = std::max<int64_t>(1, block_elements_ / (block.stride * block.channels));
  at::Tensor rest = wave;
  for (int64_t done = 0; done < x.size(0); done += part) {
    pass.check("codec decoder");
    const at::Tensor rows = x.narrow(0, done, std::min(part, x.size(0) - done));
    rest = run_from(pass, index + 1, run_block(pass, block, rows), rest);
  }
  return rest;
}

at::Tensor Decoder::forward(Pass& pass, const at::Tensor& x) const {
  const at::Tensor wave = at::empty({x.size(0) * upsampling_}, x.options());
  run_from(pass, 0, first_.forward_wide(pass, x), wave);
  return wave;
}

}  // namespace remora::codec
