#include "codec/config.h"

#include <algorithm>
#include <string>

#include "base/concat.h"
#include "io/json.h"

namespace remora::codec {
namespace {

// Far beyond any codec; they keep products of sizes inside 64 bits and loops over layers short.
constexpr io::IntRange kChannels = {1, 1 << 16};
constexpr io::IntRange kLayers = {0, 256};
constexpr io::IntRange kEntries = {1, 1 << 20};
constexpr io::IntRange kCodebooks = {1, 255};
constexpr io::IntRange kStride = {1, 1024};
constexpr io::IntRange kWindow = {1, 1 << 20};
constexpr io::IntRange kSampleRate = {1000, 768000};
constexpr io::IntRange kSmall = {1, 64};
constexpr io::NumberRange kEpsilon = {0.0, 1.0};
constexpr size_t kMostBlocks = 16;
constexpr int64_t kLongestFrame = int64_t{1} << 20;  // samples

// Capped, so that absurd strides cannot overflow it before they are refused.
int64_t product(const std::vector<int64_t>& strides) {
  int64_t result = 1;
  for (const int64_t stride : strides) result = std::min(result * stride, 2 * kLongestFrame);
  return result;
}

std::vector<int64_t> strides(const io::JsonObject& json, std::string_view key,
                             const std::vector<int64_t>& released) {
  return json.has(key) ? json.integers(key, kStride, kMostBlocks) : released;
}

TransformerConfig parse_transformer(const io::JsonObject& json, TransformerConfig config) {
  config.layers = json.integer("n_layer", config.layers, kLayers);
  config.dim = json.integer("dim", config.dim, kChannels);
  config.head_dim = json.integer("head_dim", config.head_dim, kChannels);
  config.heads = json.integer("n_head", config.dim / config.head_dim, kChannels);
  config.intermediate = json.integer("intermediate_size", 3 * config.dim, {1, 4 * kChannels.max});
  config.window = json.integer("window_size", config.window, kWindow);
  config.rope_base = json.number("rope_base", config.rope_base, {1.0, 1e12});
  config.norm_eps = json.number("norm_eps", config.norm_eps, kEpsilon);
  if (config.heads * config.head_dim != config.dim) {
    json.fail("n_head", concat("times head_dim is ", config.heads * config.head_dim,
                               ", expected dim = ", config.dim));
  }
  if (config.head_dim % 2 != 0) json.fail("head_dim", "is odd; rotary positions need pairs");
  return config;
}

// An absent object: the released one, at the width that the rest of the file asks for.
TransformerConfig parse_transformer(const io::JsonObject& parent, std::string_view key, int64_t dim,
                                    TransformerConfig released) {
  released.dim = dim;
  const auto json = parent.optional_object(key);
  if (!json) {
    if (dim % released.head_dim != 0) {
      parent.fail(key, concat("is absent, and a width of ", dim, " needs its head sizes"));
    }
    released.heads = dim / released.head_dim;
    released.intermediate = 3 * dim;
    return released;
  }
  const TransformerConfig config = parse_transformer(*json, released);
  if (config.dim != dim) json->fail("dim", concat("is ", config.dim, ", expected ", dim));
  return config;
}

// Which block has the transformer: the one with layers in encoder_transformer_layers.
void parse_encoder_transformer(const io::JsonObject& json, CodecConfig& config) {
  const auto blocks = static_cast<int64_t>(config.encoder_rates.size());
  config.encoder_transformer_block = blocks - 1;
  int64_t layers = -1;
  if (json.has("encoder_transformer_layers")) {
    constexpr std::string_view kField = "encoder_transformer_layers";
    const auto counts = json.integers(kField, kLayers, kMostBlocks);
    const auto with = std::find_if(counts.begin(), counts.end(), [](auto n) { return n > 0; });
    if (static_cast<int64_t>(counts.size()) != blocks) {
      json.fail(kField, concat("has ", counts.size(), " numbers, encoder_rates has ", blocks));
    }
    if (with == counts.end()) {
      config.encoder_transformer_block = -1;
      return;
    }
    if (std::count_if(counts.begin(), counts.end(), [](auto n) { return n > 0; }) > 1) {
      json.fail(kField, "puts transformers behind several blocks; one is supported");
    }
    config.encoder_transformer_block = with - counts.begin();
    layers = *with;
  }
  TransformerConfig released = config.encoder_transformer;
  if (layers >= 0) released.layers = layers;
  config.encoder_transformer =
      parse_transformer(json, "encoder_transformer",
                        config.encoder_channels(config.encoder_transformer_block), released);
  if (layers >= 0 && config.encoder_transformer.layers != layers) {
    json.fail("encoder_transformer_layers",
              concat("says ", layers, " layers, encoder_transformer.n_layer ",
                     config.encoder_transformer.layers));
  }
}

void parse_quantizer(const io::JsonObject& json, CodecConfig& config) {
  config.residual_codebooks = json.integer("n_codebooks", config.residual_codebooks, kCodebooks);
  config.residual_entries = json.integer("codebook_size", config.residual_entries, kEntries);
  config.semantic_entries =
      json.integer("semantic_codebook_size", config.semantic_entries, kEntries);
  config.codebook_dim = json.integer("codebook_dim", config.codebook_dim, kChannels);
  config.downsample_factor = strides(json, "downsample_factor", config.downsample_factor);
  const int64_t input = json.integer("input_dim", config.latent_dim, kChannels);
  if (input != config.latent_dim) {
    json.fail("input_dim", concat("is ", input, ", expected latent_dim = ", config.latent_dim));
  }
}

void check_frame(const io::JsonObject& json, const CodecConfig& config) {
  const int64_t frame = config.frame_length();
  if (frame > kLongestFrame) {
    json.fail("encoder_rates", concat("make frames of ", frame, " samples, at most ", kLongestFrame,
                                      " are supported"));
  }
  const int64_t decoded = product(config.decoder_rates) * product(config.downsample_factor);
  if (decoded != frame) {
    json.fail("decoder_rates",
              concat("make ", decoded, " samples of a frame, encoder_rates take ", frame));
  }
  for (const auto& [key, expected] :
       {std::pair{"frame_length", frame}, std::pair{"hop_length", product(config.encoder_rates)}}) {
    const int64_t said = json.integer(key, expected, {});
    if (said != expected) {
      json.fail(key, concat("is ", said, ", but the strides make it ", expected));
    }
  }
}

void parse_widths(const io::JsonObject& json, CodecConfig& config) {
  config.encoder_dim = json.integer("encoder_dim", config.encoder_dim, kChannels);
  config.decoder_dim = json.integer("decoder_dim", config.decoder_dim, kChannels);
  config.encoder_rates = strides(json, "encoder_rates", config.encoder_rates);
  config.decoder_rates = strides(json, "decoder_rates", config.decoder_rates);
  const auto blocks = static_cast<int64_t>(config.encoder_rates.size());
  if (blocks == 0) json.fail("encoder_rates", "is empty");
  if (config.decoder_rates.empty()) json.fail("decoder_rates", "is empty");
  const int64_t doubled = config.encoder_dim << blocks;
  if (doubled > kChannels.max) {
    json.fail("encoder_dim", concat("doubled ", blocks, " times is ", doubled, ", at most ",
                                    kChannels.max, " is supported"));
  }
  config.latent_dim = json.integer("latent_dim", doubled, {1, kChannels.max});
  if (config.latent_dim != doubled) {
    json.fail("latent_dim", concat("is ", config.latent_dim, ", but encoder_dim doubled ", blocks,
                                   " times is ", doubled));
  }
  const int64_t halves = int64_t{1} << config.decoder_rates.size();
  if (config.decoder_dim % halves != 0) {
    json.fail("decoder_dim", concat("is ", config.decoder_dim, ", which cannot be halved ",
                                    config.decoder_rates.size(), " times"));
  }
}

}  // namespace

int64_t CodecConfig::frame_length() const {
  return product(encoder_rates) * product(downsample_factor);
}

int64_t CodecConfig::latents_per_frame() const { return product(downsample_factor); }

CodecConfig parse_codec_config(const io::JsonObject& json) {
  CodecConfig config;
  config.sample_rate = json.integer("sample_rate", config.sample_rate, kSampleRate);
  config.snake_eps = json.number("snake_eps", config.snake_eps, kEpsilon);
  parse_widths(json, config);
  parse_encoder_transformer(json, config);

  const auto quantizer = json.optional_object("quantizer");
  if (quantizer) parse_quantizer(*quantizer, config);
  const io::JsonObject& modules = quantizer ? *quantizer : json;
  config.pre_module = parse_transformer(modules, "pre_module", config.latent_dim, {});
  config.post_module = parse_transformer(modules, "post_module", config.latent_dim, {});

  if (const auto convnext = json.optional_object("convnext")) {
    config.convnext_kernel = convnext->integer("kernel_size", config.convnext_kernel, kSmall);
    config.convnext_ratio = convnext->integer("mlp_ratio", config.convnext_ratio, kSmall);
    config.convnext_norm_eps =
        convnext->number("layernorm_eps", config.convnext_norm_eps, kEpsilon);
  }
  check_frame(json, config);
  return config;
}

}  // namespace remora::codec
