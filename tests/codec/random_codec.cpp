#include "random_codec.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randn.h>

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "base/concat.h"

namespace remora::test {
namespace {

// A tensor as a file.
class TensorSource final : public io::ByteSource {
 public:
  explicit TensorSource(at::Tensor tensor) : ByteSource("random codec"), tensor_(tensor) {}
  uint64_t size() const override { return tensor_.nbytes(); }
  std::span<const std::byte> view() const override {
    return {static_cast<const std::byte*>(tensor_.const_data_ptr()), tensor_.nbytes()};
  }
  void read_at(uint64_t, std::span<std::byte>) const override {}

 private:
  at::Tensor tensor_;
};

// Walks over every tensor of a codec.
class Maker {
 public:
  Maker(const codec::CodecConfig& config, uint64_t seed, bool folded, bool shapes_only)
      : config_(config),
        folded_(folded),
        shapes_only_(shapes_only),
        generator_(at::make_generator<at::CPUGeneratorImpl>(seed)) {}

  io::StateDict make() {
    encoder();
    quantizer();
    decoder();
    return std::move(dict_);
  }

 private:
  void normal(const std::string& name, const std::vector<int64_t>& shape, double scale) {
    if (shapes_only_) return put_shape(name, shape);
    put(name, at::randn(shape, generator_, at::TensorOptions().dtype(at::kFloat)).mul_(scale));
  }
  void around_one(const std::string& name, const std::vector<int64_t>& shape, double scale = 1.0) {
    if (shapes_only_) return put_shape(name, shape);
    put(name,
        at::rand(shape, generator_, at::TensorOptions().dtype(at::kFloat)).add_(0.5).mul_(scale));
  }
  void put(const std::string& name, const at::Tensor& value) {
    io::StoredTensor stored;
    stored.source = std::make_shared<TensorSource>(value);
    stored.shape = value.sizes().vec();
    dict_.insert(name, std::move(stored));
  }
  void put_shape(const std::string& name, const std::vector<int64_t>& shape) {
    io::StoredTensor stored;
    stored.shape = shape;
    dict_.insert(name, std::move(stored));
  }
  // `fan_in`: numbers that meet in one output.
  void conv(const std::string& module, std::vector<int64_t> shape, int64_t fan_in, int64_t out,
            const char* direction = ".parametrizations.weight.original1",
            const char* magnitude = ".parametrizations.weight.original0") {
    const double scale = 0.7 / std::sqrt(static_cast<double>(fan_in));
    if (folded_) {
      normal(module + ".weight", shape, scale);
    } else {
      normal(module + direction, shape, 1.0);
      const double row = std::sqrt(static_cast<double>(shape[1] * shape[2]));
      around_one(module + magnitude, {shape[0], 1, 1}, scale * row);
    }
    normal(module + ".bias", {out}, 0.05);
  }
  void linear(const std::string& name, int64_t out, int64_t in) {
    normal(name, {out, in}, 1.0 / std::sqrt(static_cast<double>(in)));
  }

  void residual_units(const std::string& block, int64_t first, int64_t channels) {
    for (int64_t i = first; i < first + 3; ++i) {
      const std::string unit = concat(block, ".block.", i, ".block.");
      around_one(unit + "0.alpha", {1, channels, 1});
      conv(unit + "1.conv", {channels, channels, 7}, 7 * channels, channels);
      around_one(unit + "2.alpha", {1, channels, 1});
      conv(unit + "3.conv", {channels, channels, 1}, 4 * channels, channels);
    }
  }
  void transformer(const std::string& module, const codec::TransformerConfig& config) {
    for (int64_t i = 0; i < config.layers; ++i) {
      const std::string layer = concat(module, ".layers.", i, ".");
      linear(layer + "attention.wqkv.weight", 3 * config.dim, config.dim);
      linear(layer + "attention.wo.weight", config.dim, config.dim);
      linear(layer + "feed_forward.w1.weight", config.intermediate, config.dim);
      linear(layer + "feed_forward.w3.weight", config.intermediate, config.dim);
      linear(layer + "feed_forward.w2.weight", config.dim, config.intermediate);
      around_one(layer + "attention_norm.weight", {config.dim});
      around_one(layer + "ffn_norm.weight", {config.dim});
      around_one(layer + "attention_layer_scale.gamma", {config.dim}, 0.3);
      around_one(layer + "ffn_layer_scale.gamma", {config.dim}, 0.3);
    }
    around_one(module + ".norm.weight", {config.dim});
  }
  void convnext(const std::string& module) {
    const int64_t dim = config_.latent_dim;
    const int64_t wide = config_.convnext_ratio * dim;
    normal(module + ".dwconv.conv.weight", {dim, 1, config_.convnext_kernel}, 0.4);
    normal(module + ".dwconv.conv.bias", {dim}, 0.05);
    around_one(module + ".norm.weight", {dim});
    normal(module + ".norm.bias", {dim}, 0.05);
    linear(module + ".pwconv1.weight", wide, dim);
    normal(module + ".pwconv1.bias", {wide}, 0.05);
    linear(module + ".pwconv2.weight", dim, wide);
    normal(module + ".pwconv2.bias", {dim}, 0.05);
    around_one(module + ".gamma", {dim}, 0.3);
  }
  void codebook(const std::string& module, int64_t entries) {
    const int64_t latent = config_.latent_dim;
    const int64_t dim = config_.codebook_dim;
    normal(module + ".codebook.weight", {entries, dim}, 1.0);
    conv(module + ".in_proj", {dim, latent, 1}, latent, dim, ".weight_v", ".weight_g");
    conv(module + ".out_proj", {latent, dim, 1}, dim, latent, ".weight_v", ".weight_g");
  }

  void encoder() {
    conv("encoder.block.0.conv", {config_.encoder_dim, 1, 7}, 7, config_.encoder_dim);
    const auto blocks = static_cast<int64_t>(config_.encoder_rates.size());
    for (int64_t i = 0; i < blocks; ++i) {
      const std::string block = concat("encoder.block.", i + 1);
      const int64_t in = config_.encoder_channels(i - 1);
      const int64_t out = config_.encoder_channels(i);
      const int64_t kernel = 2 * config_.encoder_rates[static_cast<size_t>(i)];
      residual_units(block, 0, in);
      around_one(block + ".block.3.alpha", {1, in, 1});
      conv(block + ".block.4.conv", {out, in, kernel}, in * kernel, out);
      if (i == config_.encoder_transformer_block) {
        transformer(block + ".block.5", config_.encoder_transformer);
      }
    }
    around_one(concat("encoder.block.", blocks + 1, ".alpha"), {1, config_.latent_dim, 1});
    conv(concat("encoder.block.", blocks + 2, ".conv"), {config_.latent_dim, config_.latent_dim, 3},
         3 * config_.latent_dim, config_.latent_dim);
  }
  void quantizer() {
    const int64_t latent = config_.latent_dim;
    const auto& factors = config_.downsample_factor;
    for (size_t i = 0; i < factors.size(); ++i) {
      const std::string down = concat("quantizer.downsample.", i);
      const std::string up = concat("quantizer.upsample.", i);
      const int64_t mirrored = factors[factors.size() - 1 - i];
      linear_conv(down + ".0.conv", {latent, latent, factors[i]}, latent * factors[i]);
      convnext(down + ".1");
      linear_conv(up + ".0.conv", {latent, latent, mirrored}, latent);
      convnext(up + ".1");
    }
    transformer("quantizer.pre_module", config_.pre_module);
    transformer("quantizer.post_module", config_.post_module);
    codebook("quantizer.semantic_quantizer.quantizers.0", config_.semantic_entries);
    for (int64_t i = 0; i < config_.residual_codebooks; ++i) {
      codebook(concat("quantizer.quantizer.quantizers.", i), config_.residual_entries);
    }
  }
  // Without weight norm.
  void linear_conv(const std::string& module, std::vector<int64_t> shape, int64_t fan_in) {
    normal(module + ".weight", shape, 1.0 / std::sqrt(static_cast<double>(fan_in)));
    normal(module + ".bias", {config_.latent_dim}, 0.05);
  }
  void decoder() {
    conv("decoder.model.0.conv", {config_.decoder_dim, config_.latent_dim, 7},
         7 * config_.latent_dim, config_.decoder_dim);
    const auto blocks = static_cast<int64_t>(config_.decoder_rates.size());
    for (int64_t i = 0; i < blocks; ++i) {
      const std::string block = concat("decoder.model.", i + 1);
      const int64_t in = config_.decoder_channels(i - 1);
      const int64_t out = config_.decoder_channels(i);
      const int64_t kernel = 2 * config_.decoder_rates[static_cast<size_t>(i)];
      around_one(block + ".block.0.alpha", {1, in, 1});
      conv(block + ".block.1.conv", {in, out, kernel}, 2 * in, out);
      residual_units(block, 2, out);
    }
    const int64_t last = config_.decoder_channels(blocks - 1);
    around_one(concat("decoder.model.", blocks + 1, ".alpha"), {1, last, 1});
    conv(concat("decoder.model.", blocks + 2, ".conv"), {1, last, 7}, 7 * last, 1);
  }

  const codec::CodecConfig& config_;
  bool folded_;
  bool shapes_only_;
  at::Generator generator_;
  io::StateDict dict_;
};

}  // namespace

io::StateDict random_codec(const codec::CodecConfig& config, uint64_t seed, bool folded) {
  return Maker(config, seed, folded, /*shapes_only=*/false).make();
}

std::map<std::string, std::vector<int64_t>> codec_shapes(const codec::CodecConfig& config) {
  const io::StateDict dict = Maker(config, 0, /*folded=*/false, /*shapes_only=*/true).make();
  std::map<std::string, std::vector<int64_t>> shapes;
  for (const auto& [name, stored] : dict.tensors()) shapes.emplace(name, stored.shape);
  return shapes;
}

codec::CodecConfig small_config() {
  codec::CodecConfig config;
  config.sample_rate = 16000;
  config.encoder_dim = 6;
  config.encoder_rates = {4, 5, 8};
  config.encoder_transformer_block = -1;
  config.latent_dim = 48;
  config.decoder_dim = 256;  // wide enough for the fast filter in a long piece
  config.decoder_rates = {8, 5, 4};
  config.residual_codebooks = 3;
  config.residual_entries = 64;
  config.semantic_entries = 128;
  config.codebook_dim = 6;
  config.downsample_factor = {4};
  config.pre_module = {
      .layers = 1, .heads = 4, .head_dim = 12, .dim = 48, .intermediate = 96, .window = 9};
  config.post_module = {
      .layers = 2, .heads = 3, .head_dim = 16, .dim = 48, .intermediate = 80, .window = 5};
  return config;
}

}  // namespace remora::test
