#include "synthetic/shape.h"

#include <charconv>
#include <string>

#include "failure.h"

namespace remora::cli {
namespace {

constexpr int64_t kMostLayers = 512;

CodecShape released_codec() {
  return {.encoder_dim = 64,
          .decoder_dim = 1536,
          .encoder_stack = {4, 16, 64, 3072, 512},
          .pre_module = {8, 16, 64, 3072, 128},
          .post_module = {8, 16, 64, 3072, 128},
          .n_residual = 9,
          .codebook_size = 1024,
          .semantic_codebook_size = 4096};
}

LmShape s2_pro() {
  return {.family = Family::kS2Pro,
          .slow = {2560, 36, 32, 8, 128, 9728, true},
          .fast = {2560, 4, 32, 8, 128, 9728, false},
          .vocab_size = 155776,
          .first_control_id = 151643,
          .n_codebooks = 10,
          .codebook_size = 4096,
          .max_seq_len = 32768};
}

LmShape s1_mini() {
  return {.family = Family::kS1Mini,
          .slow = {1024, 28, 16, 8, 128, 3072, true},
          .fast = {1024, 4, 16, 8, 64, 3072, false},
          .vocab_size = 155776,
          .first_control_id = 151643,
          .n_codebooks = 10,
          .codebook_size = 4096,
          .max_seq_len = 8192};
}

LmShape s2_pro_attention() {
  LmShape shape = s2_pro();
  shape.slow.dim = shape.fast.dim = 1024;
  shape.slow.intermediate = shape.fast.intermediate = 256;
  shape.vocab_size = 5120;
  shape.first_control_id = 0;
  return shape;
}

CheckpointShape shape_called(std::string_view name) {
  if (name == "s2-pro") return {s2_pro(), released_codec()};
  if (name == "s1-mini") return {s1_mini(), released_codec()};
  if (name == "s2-pro-attn") return {s2_pro_attention(), released_codec()};
  throw Failure(kUsage, "--random: no model is called '" + std::string(name) +
                            "'; take s1-mini, s2-pro or s2-pro-attn");
}

}  // namespace

CheckpointShape tiny_shape(Family family) {
  const bool s2 = family == Family::kS2Pro;
  return {.lm = {.family = family,
                 .slow = {64, 3, 4, 2, 32, 128, true},
                 .fast = {64, 2, 4, 2, s2 ? 32 : 16, 96, false},
                 .vocab_size = 768,
                 .first_control_id = 0,
                 .n_codebooks = 4,
                 .codebook_size = 256,
                 .max_seq_len = s2 ? 4096 : 2048},
          .codec = {.encoder_dim = 4,
                    .decoder_dim = 48,
                    .encoder_stack = {1, 1, 64, 128, 24},
                    .pre_module = {1, 4, 16, 128, 12},
                    .post_module = {2, 4, 16, 128, 12},
                    .n_residual = 3,
                    .codebook_size = 256,
                    .semantic_codebook_size = 256}};
}

CheckpointShape tiny_16k_shape() {
  CheckpointShape shape = tiny_shape(Family::kS2Pro);
  shape.lm.fast = {48, 2, 3, 1, 32, 96, false};
  shape.lm.vocab_size = 1024;
  shape.lm.n_codebooks = 6;
  shape.lm.codebook_size = 512;
  shape.codec.sample_rate = 16000;
  shape.codec.encoder_rates = {2, 4, 5, 5};
  shape.codec.decoder_rates = {5, 5, 4, 2};
  shape.codec.n_residual = 5;
  shape.codec.codebook_size = 256;
  shape.codec.semantic_codebook_size = 512;
  return shape;
}

CheckpointShape released_shape(std::string_view text) {
  const size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  CheckpointShape shape = shape_called(name);
  if (colon == std::string_view::npos) return shape;
  const std::string_view layers = text.substr(colon + 1);
  const char* end = layers.data() + layers.size();
  const auto [last, error] = std::from_chars(layers.data(), end, shape.lm.slow.n_layer);
  if (error != std::errc() || last != end || shape.lm.slow.n_layer < 1 ||
      shape.lm.slow.n_layer > kMostLayers) {
    throw Failure(kUsage, "--random: '" + std::string(layers) +
                              "' is no number of layers from 1 to " + std::to_string(kMostLayers));
  }
  return shape;
}

}  // namespace remora::cli
