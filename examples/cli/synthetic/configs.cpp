#include "synthetic/configs.h"

#include <nlohmann/json.hpp>

namespace remora::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kLmNormEps = 1e-6;
constexpr int64_t kLmRopeBase = 1000000;
constexpr double kCodecNormEps = 1e-5;
constexpr int64_t kCodecRopeBase = 10000;

// One half of S2-Pro's nested configuration.
Json nested_stack(const char* model_type, const StackShape& stack, int64_t vocab_size,
                  int64_t max_seq_len) {
  return {{"model_type", model_type},
          {"dim", stack.dim},
          {"n_layer", stack.n_layer},
          {"n_head", stack.n_head},
          {"n_local_heads", stack.n_kv_head},
          {"head_dim", stack.head_dim},
          {"intermediate_size", stack.intermediate},
          {"vocab_size", vocab_size},
          {"max_seq_len", max_seq_len},
          {"rope_base", kLmRopeBase},
          {"norm_eps", kLmNormEps},
          {"attention_qk_norm", stack.qk_norm},
          {"attention_qkv_bias", false},
          {"attention_o_bias", false},
          {"use_moe", false}};
}

Json s2_config(const LmShape& shape, const Vocabulary& vocabulary) {
  Json text = nested_stack("fish_qwen3", shape.slow, shape.vocab_size, shape.max_seq_len);
  text["tie_word_embeddings"] = true;
  Json audio = nested_stack("fish_qwen3_audio_decoder", shape.fast, shape.codebook_size,
                            shape.n_codebooks + 1);
  audio["num_codebooks"] = shape.n_codebooks;
  audio["text_dim"] = shape.slow.dim;
  audio["tie_word_embeddings"] = false;
  const auto id_of = [&](std::string_view text_of_token) {
    for (const ControlToken& token : vocabulary.control) {
      if (token.text == text_of_token) return token.id;
    }
    return int64_t{0};
  };
  return {{"model_type", "fish_qwen3_omni"},
          {"dtype", "bfloat16"},
          {"semantic_start_token_id", vocabulary.semantic_begin},
          {"semantic_end_token_id", vocabulary.semantic_end},
          {"eos_token_id", vocabulary.end_id},
          {"pad_token_id", id_of("<|pad|>")},
          {"audio_pad_token_id", id_of("<|audio_pad|>")},
          {"text_config", std::move(text)},
          {"audio_decoder_config", std::move(audio)}};
}

Json s1_config(const LmShape& shape) {
  return {{"model_type", "dual_ar"},
          {"vocab_size", shape.vocab_size},
          {"dim", shape.slow.dim},
          {"n_layer", shape.slow.n_layer},
          {"n_head", shape.slow.n_head},
          {"n_local_heads", shape.slow.n_kv_head},
          {"head_dim", shape.slow.head_dim},
          {"intermediate_size", shape.slow.intermediate},
          {"max_seq_len", shape.max_seq_len},
          {"rope_base", kLmRopeBase},
          {"norm_eps", kLmNormEps},
          {"tie_word_embeddings", false},
          {"attention_qk_norm", shape.slow.qk_norm},
          {"attention_qkv_bias", false},
          {"attention_o_bias", false},
          {"codebook_size", shape.codebook_size},
          {"num_codebooks", shape.n_codebooks},
          {"scale_codebook_embeddings", true},
          {"n_fast_layer", shape.fast.n_layer},
          {"fast_dim", shape.fast.dim},
          {"fast_n_head", shape.fast.n_head},
          {"fast_n_local_heads", shape.fast.n_kv_head},
          {"fast_head_dim", shape.fast.head_dim},
          {"fast_intermediate_size", shape.fast.intermediate},
          {"fast_attention_qk_norm", shape.fast.qk_norm},
          {"fast_attention_qkv_bias", false},
          {"fast_attention_o_bias", false}};
}

Json codec_stack(const CodecStackShape& stack, int64_t dim) {
  return {{"n_layer", stack.n_layer},
          {"n_head", stack.n_head},
          {"head_dim", stack.head_dim},
          {"dim", dim},
          {"intermediate_size", stack.intermediate},
          {"window_size", stack.window},
          {"rope_base", kCodecRopeBase},
          {"norm_eps", kCodecNormEps}};
}

int64_t product(const std::vector<int64_t>& factors) {
  int64_t result = 1;
  for (const int64_t factor : factors) result *= factor;
  return result;
}

// Transformer layers behind each encoder block: only the last one has any.
Json layers_per_block(const std::vector<int64_t>& rates, int64_t last) {
  Json layers(rates.size(), 0);
  layers.back() = last;
  return layers;
}

}  // namespace

std::string lm_config_json(const LmShape& shape, const Vocabulary& vocabulary) {
  const bool s2 = shape.family == Family::kS2Pro;
  return (s2 ? s2_config(shape, vocabulary) : s1_config(shape)).dump(2) + "\n";
}

std::string codec_config_json(const CodecShape& shape) {
  const int64_t dim = shape.latent_dim();
  const int64_t hop = product(shape.encoder_rates);
  const Json quantizer = {{"input_dim", dim},
                          {"n_codebooks", shape.n_residual},
                          {"codebook_size", shape.codebook_size},
                          {"codebook_dim", shape.codebook_dim},
                          {"semantic_codebook_size", shape.semantic_codebook_size},
                          {"downsample_factor", shape.downsample},
                          {"pre_module", codec_stack(shape.pre_module, dim)},
                          {"post_module", codec_stack(shape.post_module, dim)}};
  const Json file = {
      {"sample_rate", shape.sample_rate},
      {"encoder_dim", shape.encoder_dim},
      {"encoder_rates", shape.encoder_rates},
      {"latent_dim", dim},
      {"decoder_dim", shape.decoder_dim},
      {"decoder_rates", shape.decoder_rates},
      {"encoder_transformer_layers",
       layers_per_block(shape.encoder_rates, shape.encoder_stack.n_layer)},
      {"decoder_transformer_layers", layers_per_block(shape.decoder_rates, 0)},
      {"encoder_transformer", codec_stack(shape.encoder_stack, dim)},
      {"quantizer", quantizer},
      {"hop_length", hop},
      {"frame_length", hop * product(shape.downsample)},
      {"convnext",
       {{"kernel_size", 7}, {"mlp_ratio", 4}, {"layernorm_eps", 1e-6}, {"gelu", "erf"}}},
      {"snake_eps", 1e-9}};
  return file.dump(1) + "\n";
}

}  // namespace remora::cli
