#include "codec/encoder.h"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>

#include "base/concat.h"

namespace remora::codec {
namespace {

constexpr int64_t kFirstKernel = 7;
constexpr int64_t kLastKernel = 3;
constexpr std::array<int64_t, 3> kDilations = {1, 3, 9};

std::string stage(size_t index) { return concat("encoder.block.", index); }

// Tokens per code frame behind block `index`.
int64_t tokens_per_frame(const CodecConfig& config, int64_t index) {
  const auto begin = config.encoder_rates.begin() + index + 1;
  return std::accumulate(begin, config.encoder_rates.end(), config.latents_per_frame(),
                         std::multiplies<>());
}

}  // namespace

Encoder::Encoder(Weights& weights, StateLayout& layout, const CodecConfig& config,
                 int64_t block_elements)
    : block_elements_(block_elements),
      first_(weights, layout, stage(0),
             {.in = 1, .out = config.encoder_dim, .kernel = kFirstKernel, .wide = true}),
      before_last_module_(stage(config.encoder_rates.size() + 1)),
      before_last_(weights, before_last_module_, config.latent_dim, config.snake_eps),
      last_(weights, layout, stage(config.encoder_rates.size() + 2),
            {.in = config.latent_dim, .out = config.latent_dim, .kernel = kLastKernel}) {
  for (size_t i = 0; i < config.encoder_rates.size(); ++i) {
    blocks_.push_back(make_block(weights, layout, config, static_cast<int64_t>(i)));
  }
}

Encoder::Block Encoder::make_block(Weights& weights, StateLayout& layout, const CodecConfig& config,
                                   int64_t index) const {
  const std::string module = stage(static_cast<size_t>(index) + 1);
  const int64_t in = config.encoder_channels(index - 1);
  const int64_t out = config.encoder_channels(index);
  const int64_t stride = config.encoder_rates[static_cast<size_t>(index)];
  std::vector<ResidualUnit> units;
  for (size_t i = 0; i < kDilations.size(); ++i) {
    units.emplace_back(weights, layout, concat(module, ".block.", i), in, kDilations[i],
                       config.snake_eps);
  }
  Block block{
      .module = module,
      .stride = stride,
      .in = in,
      .out = out,
      .units = std::move(units),
      .before = Snake(weights, concat(module, ".block.3"), in, config.snake_eps),
      .narrow = CausalConv1d(weights, layout, concat(module, ".block.4"),
                             {.in = in, .out = out, .kernel = 2 * stride, .stride = stride}),
      .transformer = {}};
  if (index == config.encoder_transformer_block) {
    block.transformer.emplace(weights, layout, concat(module, ".block.5"),
                              config.encoder_transformer, tokens_per_frame(config, index));
  }
  return block;
}

at::Tensor Encoder::convolve(Pass& pass, const Block& block, const at::Tensor& x) const {
  for (const ResidualUnit& unit : block.units) unit.forward(pass, x);
  at::Tensor rows = block.narrow.open(pass, x.size(0));  // [carried + n, in]
  block.before.forward(x, block.narrow.fresh(rows));
  pass.note(block.module, ".block.3", block.narrow.fresh(rows));
  return block.narrow.close(pass, rows);  // [n / stride, out]
}

at::Tensor Encoder::run_block(Pass& pass, const Block& block, const at::Tensor& x) const {
  at::Tensor y = at::empty({x.size(0) / block.stride, block.out}, x.options());
  const int64_t part = std::max<int64_t>(1, block_elements_ / (block.stride * block.in));
  for (int64_t done = 0; done < y.size(0); done += part) {
    pass.check("codec encoder");
    const int64_t n = std::min(part, y.size(0) - done);
    y.narrow(0, done, n)
        .copy_(convolve(pass, block, x.narrow(0, done * block.stride, n * block.stride)));
  }
  if (block.transformer) y = block.transformer->forward(pass, y);
  pass.note(block.module, "", y);
  return y;
}

at::Tensor Encoder::forward(Pass& pass, const at::Tensor& samples) const {
  at::Tensor x = first_.forward(pass, samples.unsqueeze(1));  // [n, encoder_dim]
  for (const Block& block : blocks_) x = run_block(pass, block, x);
  at::Tensor rows = last_.open(pass, x.size(0));
  before_last_.forward(x, last_.fresh(rows));
  pass.note(before_last_module_, "", last_.fresh(rows));
  return last_.close(pass, rows).to(at::kFloat);
}

}  // namespace remora::codec
