#include "synthetic/codec_tensors.h"

#include <cmath>
#include <string>

namespace remora::cli {
namespace {

constexpr double kBranchGain = 0.3;   // of residual branches: a deep sum must not grow
constexpr double kOutputGain = 0.12;  // of the last convolution: far from where tanh bends
constexpr int64_t kConvNextRatio = 4;
// Decoder blocks behind these only hold their input's level: without it, white noise at the full
// sample rate drowns all that the codes say.
constexpr int64_t kMurmurBlocks = 2;

class CodecList {
 public:
  explicit CodecList(const CodecShape& shape) : shape_(shape) {}

  std::vector<TensorSpec> build() && {
    encoder();
    quantizer();
    decoder();
    return std::move(tensors_);
  }

 private:
  void add(std::string name, std::vector<int64_t> shape, Fill fill) {
    tensors_.push_back({std::move(name), std::move(shape), Dtype::kF32, fill, {}});
  }

  // Weights whose rows sum `fan_in` products.
  void linear(const std::string& name, std::vector<int64_t> shape, int64_t fan_in) {
    add(name, std::move(shape), {0, 1 / std::sqrt(static_cast<double>(fan_in))});
  }

  void bias(const std::string& name, int64_t n) { add(name, {n}, {0, 0.02}); }
  void ones(const std::string& name, int64_t n) { add(name, {n}, {1, 0.05}); }
  void alpha(const std::string& prefix, int64_t channels) {
    add(prefix + ".alpha", {1, channels, 1}, {1, 0.2});
  }

  // A weight-normed convolution: direction v, and per output channel the length g.
  void conv(const std::string& prefix, int64_t in, int64_t out, int64_t kernel, double gain = 1) {
    bias(prefix + ".conv.bias", out);
    add(prefix + ".conv.parametrizations.weight.original0", {out, 1, 1}, {gain, 0.05 * gain});
    add(prefix + ".conv.parametrizations.weight.original1", {out, in, kernel}, {0, 1});
  }

  // Transposed: the length is per input channel, whose energy spreads over out * stride samples.
  void transposed_conv(const std::string& prefix, int64_t in, int64_t out, int64_t stride,
                       bool held) {
    const double gain = std::sqrt(static_cast<double>(out * stride) / static_cast<double>(in));
    bias(prefix + ".conv.bias", out);
    add(prefix + ".conv.parametrizations.weight.original0", {in, 1, 1}, {gain, 0.05 * gain});
    add(prefix + ".conv.parametrizations.weight.original1", {in, out, 2 * stride}, {0, 1, held});
  }

  void residual_unit(const std::string& prefix, int64_t channels) {
    alpha(prefix + ".block.0", channels);
    conv(prefix + ".block.1", channels, channels, 7);
    alpha(prefix + ".block.2", channels);
    conv(prefix + ".block.3", channels, channels, 1, kBranchGain);
  }

  void transformer(const std::string& prefix, const CodecStackShape& stack) {
    const int64_t dim = shape_.latent_dim();
    const int64_t inner = stack.n_head * stack.head_dim;
    for (int64_t i = 0; i < stack.n_layer; ++i) {
      const std::string layer = prefix + ".layers." + std::to_string(i);
      linear(layer + ".attention.wqkv.weight", {3 * inner, dim}, dim);
      linear(layer + ".attention.wo.weight", {dim, inner}, inner);
      linear(layer + ".feed_forward.w1.weight", {stack.intermediate, dim}, dim);
      linear(layer + ".feed_forward.w3.weight", {stack.intermediate, dim}, dim);
      linear(layer + ".feed_forward.w2.weight", {dim, stack.intermediate}, stack.intermediate);
      ones(layer + ".attention_norm.weight", dim);
      ones(layer + ".ffn_norm.weight", dim);
      add(layer + ".attention_layer_scale.gamma", {dim}, {kBranchGain, 0.05});
      add(layer + ".ffn_layer_scale.gamma", {dim}, {kBranchGain, 0.05});
    }
    ones(prefix + ".norm.weight", dim);
  }

  void encoder() {
    int64_t channels = shape_.encoder_dim;
    conv("encoder.block.0", 1, channels, 7);
    const auto n_blocks = static_cast<int64_t>(shape_.encoder_rates.size());
    for (int64_t n = 1; n <= n_blocks; ++n) {
      const std::string block = "encoder.block." + std::to_string(n) + ".block.";
      for (int unit = 0; unit < 3; ++unit) residual_unit(block + std::to_string(unit), channels);
      alpha(block + "3", channels);
      conv(block + "4", channels, 2 * channels, 2 * shape_.encoder_rates[n - 1]);
      channels *= 2;
      if (n == n_blocks) transformer(block + "5", shape_.encoder_stack);
    }
    alpha("encoder.block." + std::to_string(n_blocks + 1), channels);
    conv("encoder.block." + std::to_string(n_blocks + 2), channels, shape_.latent_dim(), 3);
  }

  void codebook(const std::string& prefix, int64_t entries) {
    const int64_t dim = shape_.latent_dim();
    const int64_t width = shape_.codebook_dim;
    const double share = 1 / std::sqrt(static_cast<double>(1 + shape_.n_residual));
    bias(prefix + ".in_proj.bias", width);
    add(prefix + ".in_proj.weight_g", {width, 1, 1}, {1, 0.05});
    add(prefix + ".in_proj.weight_v", {width, dim, 1}, {0, 1});
    bias(prefix + ".out_proj.bias", dim);
    add(prefix + ".out_proj.weight_g", {dim, 1, 1}, {share, 0.05 * share});
    add(prefix + ".out_proj.weight_v", {dim, width, 1}, {0, 1});
    add(prefix + ".codebook.weight", {entries, width}, {0, 1});
  }

  void conv_next(const std::string& prefix) {
    const int64_t dim = shape_.latent_dim();
    add(prefix + ".gamma", {dim}, {kBranchGain, 0.05});
    linear(prefix + ".dwconv.conv.weight", {dim, 1, 7}, 7);
    bias(prefix + ".dwconv.conv.bias", dim);
    ones(prefix + ".norm.weight", dim);
    bias(prefix + ".norm.bias", dim);
    linear(prefix + ".pwconv1.weight", {kConvNextRatio * dim, dim}, dim);
    bias(prefix + ".pwconv1.bias", kConvNextRatio * dim);
    linear(prefix + ".pwconv2.weight", {dim, kConvNextRatio * dim}, kConvNextRatio * dim);
    bias(prefix + ".pwconv2.bias", dim);
  }

  void quantizer() {
    const int64_t dim = shape_.latent_dim();
    codebook("quantizer.semantic_quantizer.quantizers.0", shape_.semantic_codebook_size);
    for (int64_t i = 0; i < shape_.n_residual; ++i) {
      codebook("quantizer.quantizer.quantizers." + std::to_string(i), shape_.codebook_size);
    }
    const auto n_factors = static_cast<int64_t>(shape_.downsample.size());
    for (int64_t n = 0; n < n_factors; ++n) {
      const std::string down = "quantizer.downsample." + std::to_string(n);
      const int64_t factor = shape_.downsample[n];
      linear(down + ".0.conv.weight", {dim, dim, factor}, dim * factor);
      bias(down + ".0.conv.bias", dim);
      conv_next(down + ".1");
      // The way up mirrors the way down; kernel = stride, so an output sums `dim` products.
      const std::string up = "quantizer.upsample." + std::to_string(n);
      linear(up + ".0.conv.weight", {dim, dim, shape_.downsample[n_factors - 1 - n]}, dim);
      bias(up + ".0.conv.bias", dim);
      conv_next(up + ".1");
    }
    transformer("quantizer.pre_module", shape_.pre_module);
    transformer("quantizer.post_module", shape_.post_module);
  }

  void decoder() {
    int64_t channels = shape_.decoder_dim;
    conv("decoder.model.0", shape_.latent_dim(), channels, 7);
    const auto n_blocks = static_cast<int64_t>(shape_.decoder_rates.size());
    for (int64_t n = 1; n <= n_blocks; ++n) {
      const std::string block = "decoder.model." + std::to_string(n) + ".block.";
      alpha(block + "0", channels);
      transposed_conv(block + "1", channels, channels / 2, shape_.decoder_rates[n - 1],
                      n > kMurmurBlocks);
      channels /= 2;
      for (int unit = 2; unit < 5; ++unit) residual_unit(block + std::to_string(unit), channels);
    }
    alpha("decoder.model." + std::to_string(n_blocks + 1), channels);
    conv("decoder.model." + std::to_string(n_blocks + 2), channels, 1, 7, kOutputGain);
  }

  const CodecShape& shape_;
  std::vector<TensorSpec> tensors_;
};

}  // namespace

std::vector<TensorSpec> codec_tensors(const CodecShape& shape) { return CodecList(shape).build(); }

}  // namespace remora::cli
