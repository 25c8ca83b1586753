#include "lm/config.h"

#include <string>
#include <string_view>

#include "base/concat.h"
#include "base/error.h"
#include "io/json.h"
#include "io/quote.h"

namespace remora::lm {
namespace {

using io::IntRange;
using io::JsonObject;

constexpr uint64_t kMaxConfigBytes = 16U << 20;
// Generous bounds whose products cannot overflow 64 bits.
constexpr IntRange kSize{1, 1 << 20};
constexpr IntRange kCount{1, 1024};
constexpr IntRange kTokenId{0, 1 << 24};
constexpr io::NumberRange kPositive{1e-12, 1e12};

// SwiGLU width of a config that leaves it out.
int64_t default_intermediate(int64_t dim) {
  constexpr int64_t kMultiple = 256;
  const int64_t width = 8 * dim / 3;
  return (width + kMultiple - 1) / kMultiple * kMultiple;
}

// Key names of the slow stack, and of the fast one with its prefix.
std::string key(std::string_view prefix, std::string_view name) { return concat(prefix, name); }

void check_heads(const JsonObject& json, std::string_view prefix, const StackConfig& stack) {
  if (stack.heads % stack.kv_heads != 0) {
    json.fail(key(prefix, "n_local_heads"),
              concat("is ", stack.kv_heads, ", which does not divide ", stack.heads, " heads"));
  }
  if (stack.head_dim % 2 != 0) {
    json.fail(key(prefix, "head_dim"),
              concat("is ", stack.head_dim, ", expected an even number for the rotary embedding"));
  }
}

// The slow stack with the defaults that the format gives to missing keys.
StackConfig read_slow(const JsonObject& json) {
  StackConfig stack;
  stack.layers = json.integer("n_layer", 32, kCount);
  stack.heads = json.integer("n_head", 32, kCount);
  stack.dim = json.integer("dim", 4096, kSize);
  if (stack.dim % stack.heads != 0) {
    json.fail("dim", concat("is ", stack.dim, ", no multiple of ", stack.heads, " heads"));
  }
  stack.kv_heads = json.integer("n_local_heads", -1, {-1, kCount.max});
  if (stack.kv_heads < 1) stack.kv_heads = stack.heads;
  // Absent and null differ here: absent means 64.
  stack.head_dim =
      json.is_null("head_dim") ? stack.dim / stack.heads : json.integer("head_dim", 64, kSize);
  stack.intermediate = json.integer("intermediate_size", default_intermediate(stack.dim), kSize);
  stack.qkv_bias = json.boolean("attention_qkv_bias", false);
  stack.o_bias = json.boolean("attention_o_bias", false);
  stack.qk_norm = json.boolean("attention_qk_norm", false);
  check_heads(json, "", stack);
  return stack;
}

// The fast stack: a size that is missing, null or 0 is the slow stack's; a flag that is missing or
// null too, but an explicit false stays.
StackConfig read_fast(const JsonObject& json, std::string_view prefix, const StackConfig& slow) {
  const auto size = [&](std::string_view name, int64_t inherited, IntRange range) {
    const int64_t value = json.integer(key(prefix, name), 0, {0, range.max});
    return value > 0 ? value : inherited;
  };
  const auto flag = [&](std::string_view name, bool inherited) {
    return json.boolean(key(prefix, name), inherited);
  };
  StackConfig stack;
  stack.dim = size("dim", slow.dim, kSize);
  stack.heads = size("n_head", slow.heads, kCount);
  stack.kv_heads = size("n_local_heads", slow.kv_heads, kCount);
  stack.head_dim = size("head_dim", slow.head_dim, kSize);
  stack.intermediate = size("intermediate_size", slow.intermediate, kSize);
  stack.qkv_bias = flag("attention_qkv_bias", slow.qkv_bias);
  stack.o_bias = flag("attention_o_bias", slow.o_bias);
  stack.qk_norm = flag("attention_qk_norm", slow.qk_norm);
  check_heads(json, prefix, stack);
  return stack;
}

// Keys that both layouts keep beside the slow stack.
LmConfig read_common(const JsonObject& text) {
  LmConfig config;
  config.slow = read_slow(text);
  config.vocab_size = text.integer("vocab_size", 32000, {1, kTokenId.max});
  config.max_seq_len = text.integer("max_seq_len", 2048, kSize);
  config.rope_base = text.number("rope_base", 10000, kPositive);
  config.norm_eps = text.number("norm_eps", 1e-5, {0, 1});
  config.tied_head = text.boolean("tie_word_embeddings", true);
  return config;
}

void refuse_experts(const JsonObject& json) {
  if (!json.boolean("use_moe", false)) return;
  throw Error(Status::kUnsupported, concat(json.file(), ": ", json.field("use_moe"),
                                           " is true; mixture of experts is not supported"));
}

LmConfig parse_flat(const JsonObject& root) {
  refuse_experts(root);
  LmConfig config = read_common(root);
  config.family = Family::kS1;
  config.codebook_size = root.integer("codebook_size", 160, kSize);
  config.num_codebooks = root.integer("num_codebooks", 4, kCount);
  config.fast = read_fast(root, "fast_", config.slow);
  config.fast.layers = root.integer("n_fast_layer", 4, kCount);
  config.scale_codebook_embeddings = root.boolean("scale_codebook_embeddings", false);
  config.norm_fast_input = root.boolean("norm_fastlayer_input", false);
  config.semantic_begin = static_cast<int32_t>(root.integer("semantic_begin_id", 0, kTokenId));
  config.semantic_end = static_cast<int32_t>(root.integer("semantic_end_id", 0, kTokenId));
  return config;
}

LmConfig parse_nested(const JsonObject& root) {
  const JsonObject text = root.object("text_config");
  const JsonObject audio = root.object("audio_decoder_config");
  refuse_experts(text);
  refuse_experts(audio);
  LmConfig config = read_common(text);
  config.family = Family::kS2;
  config.codebook_size = audio.integer("vocab_size", kSize);
  config.num_codebooks = audio.integer("num_codebooks", kCount);
  // The fast stack shares the text stack's rope_base and norm_eps: its own are ignored.
  config.fast = read_fast(audio, "", config.slow);
  config.fast.layers = audio.integer("n_layer", kCount);
  config.scale_codebook_embeddings = true;
  config.norm_fast_input = true;
  config.semantic_begin =
      static_cast<int32_t>(root.integer("semantic_start_token_id", 0, kTokenId));
  config.semantic_end = static_cast<int32_t>(root.integer("semantic_end_token_id", 0, kTokenId));
  return config;
}

}  // namespace

LmConfig parse_lm_config(const io::ByteSource& source) {
  const JsonObject root(source, kMaxConfigBytes);
  const std::string type = root.string("model_type");
  if (type == "fish_qwen3_omni") return parse_nested(root);
  if (type == "dual_ar") return parse_flat(root);
  if (type == "naive") {
    throw Error(Status::kUnsupported,
                concat(root.file(),
                       ": model_type is naive, a model without the fast transformer, "
                       "which cannot generate; expected fish_qwen3_omni or dual_ar"));
  }
  throw Error(Status::kUnsupported, concat(root.file(), ": model_type is '", io::printable(type),
                                           "', expected fish_qwen3_omni or dual_ar"));
}

LmConfig read_lm_config(const io::FileSet& files) {
  return parse_lm_config(*files.open("config.json"));
}

}  // namespace remora::lm
