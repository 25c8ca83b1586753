#include "lm/builder.h"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/error.h"

namespace remora::lm {
namespace {

// The S1 family never samples a higher residual code, whatever its table's size.
constexpr int64_t kS1ResidualCodes = 1024;

// The two transformers from a source of weights.
class Builder {
 public:
  Builder(const LmConfig& config, const LoadOptions& options, WeightSource& source)
      : config_(config), options_(options), source_(source) {}

  SlowModel slow() {
    SlowModel::Parts parts;
    const std::vector<int64_t> table{config_.vocab_size, config_.slow.dim};
    parts.embeddings = source_.table("embeddings.weight", table);
    parts.codebook_embeddings =
        source_.table("codebook_embeddings.weight",
                      {config_.num_codebooks * config_.codebook_size, config_.slow.dim});
    parts.head_tokens = head_tokens();
    // Only these may be sampled, so only their rows are kept: exactly the same distribution.
    parts.head = nn::Linear(source_.rows(config_.tied_head ? "embeddings.weight" : "output.weight",
                                         table, parts.head_tokens));
    Transformer stack = transformer("layers.", config_.slow);
    parts.norm = source_.weight("norm.weight", {config_.slow.dim});
    if (config_.fast.dim != config_.slow.dim) {
      parts.project =
          nn::Linear(source_.weight("fast_project_in.weight", {config_.fast.dim, config_.slow.dim}),
                     source_.weight("fast_project_in.bias", {config_.fast.dim}));
      parts.has_project = true;
    }
    return {config_, options_.semantic_begin, options_.semantic_end, std::move(stack),
            std::move(parts)};
  }

  FastModel fast() {
    const std::vector<int64_t> table{config_.codebook_size, config_.fast.dim};
    FastModel::Parts parts;
    parts.embeddings = source_.table("fast_embeddings.weight", table);
    Transformer stack = transformer("fast_layers.", config_.fast);
    parts.norm = source_.weight("fast_norm.weight", {config_.fast.dim});
    std::vector<int32_t> codes(static_cast<size_t>(residual_codes()));
    for (size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<int32_t>(i);
    parts.head = nn::Linear(source_.rows("fast_output.weight", table, codes));
    return {std::move(stack), std::move(parts)};
  }

 private:
  std::vector<int32_t> head_tokens() const {
    std::vector<int32_t> tokens;
    for (int32_t t = options_.semantic_begin; t <= options_.semantic_end; ++t) tokens.push_back(t);
    tokens.insert(std::lower_bound(tokens.begin(), tokens.end(), options_.end_token),
                  options_.end_token);
    return tokens;
  }

  int64_t residual_codes() const {
    int64_t codes = config_.codebook_size;
    if (options_.residual_limit > 0) codes = std::min<int64_t>(codes, options_.residual_limit);
    return config_.family == Family::kS1 ? std::min(codes, kS1ResidualCodes) : codes;
  }

  Transformer transformer(const std::string& prefix, const StackConfig& stack) {
    std::vector<Block> blocks;
    for (int64_t i = 0; i < stack.layers; ++i)
      blocks.push_back(block(concat(prefix, i, "."), stack));
    return {stack, config_.norm_eps, std::move(blocks)};
  }

  Block block(const std::string& prefix, const StackConfig& stack) {
    const auto matrix = [&](std::string_view name, int64_t out, int64_t in) {
      return nn::Linear(source_.weight(concat(prefix, name, ".weight"), {out, in}));
    };
    Block block;
    block.attention_norm = source_.weight(prefix + "attention_norm.weight", {stack.dim});
    block.ffn_norm = source_.weight(prefix + "ffn_norm.weight", {stack.dim});
    if (stack.qk_norm) {
      block.q_norm = source_.weight(prefix + "attention.q_norm.weight", {stack.head_dim});
      block.k_norm = source_.weight(prefix + "attention.k_norm.weight", {stack.head_dim});
    }
    block.wqkv = nn::Linear(fused_qkv(prefix + "attention.", stack),
                            bias(prefix + "attention.wqkv.bias", stack.qkv_bias, stack.qkv_rows()));
    block.wo = nn::Linear(
        source_.weight(prefix + "attention.wo.weight", {stack.dim, stack.heads * stack.head_dim}),
        bias(prefix + "attention.wo.bias", stack.o_bias, stack.dim));
    block.w1 = matrix("feed_forward.w1", stack.intermediate, stack.dim);
    block.w3 = matrix("feed_forward.w3", stack.intermediate, stack.dim);
    block.w2 = matrix("feed_forward.w2", stack.dim, stack.intermediate);
    return block;
  }

  at::Tensor bias(const std::string& name, bool there, int64_t rows) {
    return there ? source_.weight(name, {rows}) : at::Tensor();
  }

  // Some tools store the three apart: their rows follow one another.
  at::Tensor fused_qkv(const std::string& prefix, const StackConfig& stack) {
    if (!source_.has(prefix + "wq.weight")) {
      return source_.weight(prefix + "wqkv.weight", {stack.qkv_rows(), stack.dim});
    }
    const int64_t q = stack.heads * stack.head_dim, kv = stack.kv_heads * stack.head_dim;
    return at::cat({source_.weight(prefix + "wq.weight", {q, stack.dim}),
                    source_.weight(prefix + "wk.weight", {kv, stack.dim}),
                    source_.weight(prefix + "wv.weight", {kv, stack.dim})});
  }

  const LmConfig& config_;
  const LoadOptions& options_;
  WeightSource& source_;
};

}  // namespace

void check_options(const LmConfig& config, const LoadOptions& options) {
  const auto refuse = [](const std::string& text) { throw Error(Status::kInvalidArgument, text); };
  const int64_t begin = options.semantic_begin, end = options.semantic_end;
  if (begin < 0 || end < begin || end >= config.vocab_size) {
    refuse(concat("semantic tokens ", begin, " to ", end, " do not fit a vocabulary of ",
                  config.vocab_size, "; is the tokenizer from the same checkpoint?"));
  }
  if (end - begin + 1 != config.codebook_size) {
    refuse(concat("the tokenizer has ", end - begin + 1, " semantic tokens, the config a table of ",
                  config.codebook_size, "; is the tokenizer from the same checkpoint?"));
  }
  if (options.end_token < 0 || options.end_token >= config.vocab_size ||
      (options.end_token >= begin && options.end_token <= end)) {
    refuse(concat("end token ", options.end_token, " is not a text token of a vocabulary of ",
                  config.vocab_size));
  }
  if (options.residual_limit < 0) {
    refuse(concat("residual_limit is ", options.residual_limit, ", expected 0 (none) or more"));
  }
  if (options.dtype != at::kFloat && options.dtype != at::kBFloat16 && options.dtype != at::kHalf) {
    refuse("the language model runs in float32, bfloat16 or float16");
  }
}

SlowModel build_slow(const LmConfig& config, const LoadOptions& options, WeightSource& source) {
  return Builder(config, options, source).slow();
}

FastModel build_fast(const LmConfig& config, const LoadOptions& options, WeightSource& source) {
  return Builder(config, options, source).fast();
}

}  // namespace remora::lm
