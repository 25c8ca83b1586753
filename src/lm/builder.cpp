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

// "layers.3.attention.wo.weight" is of the kind "layers.*.attention.wo".
std::string kind_of(std::string_view name) {
  std::string kind;
  for (const char c : name.substr(0, name.rfind('.'))) {
    const bool digit = c >= '0' && c <= '9';
    if (digit && (kind.ends_with('.') || kind.ends_with('*'))) {
      if (!kind.ends_with('*')) kind.push_back('*');
    } else {
      kind.push_back(c);
    }
  }
  return kind;
}

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
    parts.head = head(config_.tied_head && !options_.saved ? "embeddings.weight" : "output.weight",
                      table, parts.head_tokens, parts.head_tokens.size());
    Transformer stack = transformer("layers.", config_.slow);
    parts.norm = source_.weight("norm.weight", {config_.slow.dim});
    if (config_.fast.dim != config_.slow.dim) {
      parts.project =
          matrix("fast_project_in.weight", config_.fast.dim, config_.slow.dim,
                 source_.weight("fast_project_in.bias", {config_.fast.dim}), Part::kSmall);
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
    const auto saved_rows = options_.saved ? options_.saved->residual_codes : 0;
    parts.head = head("fast_output.weight", table, codes, static_cast<size_t>(saved_rows));
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
    if (options_.saved) codes = std::min<int64_t>(codes, options_.saved->residual_codes);
    return config_.family == Family::kS1 ? std::min(codes, kS1ResidualCodes) : codes;
  }

  // What may go to 4 bits: there the fast model loses the end of a turn.
  enum class Part { kSlow, kSmall };

  nn::WeightFormat format_of(Part part) const {
    const bool int4 = options_.weights == Weights::kInt4 && part == Part::kSlow;
    return {int4 ? nn::cpu::MatrixKind::kInt4 : nn::cpu::MatrixKind::kInt8,
            int4 ? options_.group() : 0};
  }

  nn::Linear kept(const std::string& name, const at::Tensor& weight, at::Tensor bias,
                  Part part) const {
    if (options_.weights == Weights::kAsDtype) return nn::Linear(weight, std::move(bias));
    const nn::WeightFormat format = format_of(part);
    nn::Linear linear = nn::Linear::quantised(weight, format, std::move(bias));
    if (options_.errors != nullptr && !weight.is_meta()) {
      add_error(kind_of(name), format, linear.error_against(weight));
    }
    return linear;
  }

  void add_error(std::string kind, const nn::WeightFormat& format,
                 const nn::QuantisationError& error) const {
    std::vector<LayerError>& all = *options_.errors;
    const auto known = std::find_if(all.begin(), all.end(),
                                    [&](const LayerError& other) { return other.layer == kind; });
    if (known != all.end()) {
      known->error.add(error);
    } else {
      all.push_back({std::move(kind), format, error});
    }
  }

  // A matrix that the checkpoint holds quantised, of which the first rows may do.
  nn::Linear saved(const std::string& name, int64_t stored_rows, int64_t out, int64_t in,
                   at::Tensor bias, Part part) {
    const nn::WeightFormat format = format_of(part);
    return nn::Linear::from_packed(
        format, out, in, source_.packed(name, format, stored_rows, out, in), std::move(bias));
  }

  // Rows of a checkpoint's matrix; all that a quantised checkpoint has are `saved_rows`.
  nn::Linear head(const std::string& name, const std::vector<int64_t>& shape,
                  std::span<const int32_t> rows, size_t saved_rows) {
    if (options_.saved) {
      return saved(name, static_cast<int64_t>(saved_rows), static_cast<int64_t>(rows.size()),
                   shape[1], {}, Part::kSmall);
    }
    return kept(name == "embeddings.weight" ? "output.weight" : name,
                source_.rows(name, shape, rows), {}, Part::kSmall);
  }

  // A matrix of the checkpoint, or its quantised form.
  nn::Linear matrix(const std::string& name, int64_t out, int64_t in, at::Tensor bias, Part part) {
    if (options_.saved) return saved(name, out, out, in, std::move(bias), part);
    return kept(name, source_.weight(name, {out, in}), std::move(bias), part);
  }

  Transformer transformer(const std::string& prefix, const StackConfig& stack) {
    const Part part = &stack == &config_.slow ? Part::kSlow : Part::kSmall;
    std::vector<Block> blocks;
    for (int64_t i = 0; i < stack.layers; ++i) {
      blocks.push_back(block(concat(prefix, i, "."), stack, part));
    }
    return {stack, config_.norm_eps, std::move(blocks)};
  }

  Block block(const std::string& prefix, const StackConfig& stack, Part part) {
    Block block;
    block.attention_norm = source_.weight(prefix + "attention_norm.weight", {stack.dim});
    block.ffn_norm = source_.weight(prefix + "ffn_norm.weight", {stack.dim});
    if (stack.qk_norm) {
      block.q_norm = source_.weight(prefix + "attention.q_norm.weight", {stack.head_dim});
      block.k_norm = source_.weight(prefix + "attention.k_norm.weight", {stack.head_dim});
    }
    block.wqkv = fused_qkv(prefix + "attention.", stack, part);
    block.wo = matrix(prefix + "attention.wo.weight", stack.dim, stack.heads * stack.head_dim,
                      bias(prefix + "attention.wo.bias", stack.o_bias, stack.dim), part);
    const std::string ffn = prefix + "feed_forward.";
    block.w1 = matrix(ffn + "w1.weight", stack.intermediate, stack.dim, {}, part);
    block.w3 = matrix(ffn + "w3.weight", stack.intermediate, stack.dim, {}, part);
    block.w2 = matrix(ffn + "w2.weight", stack.dim, stack.intermediate, {}, part);
    return block;
  }

  at::Tensor bias(const std::string& name, bool there, int64_t rows) {
    return there ? source_.weight(name, {rows}) : at::Tensor();
  }

  // Some tools store the three apart: their rows follow one another.
  nn::Linear fused_qkv(const std::string& prefix, const StackConfig& stack, Part part) {
    at::Tensor bias_of = bias(prefix + "wqkv.bias", stack.qkv_bias, stack.qkv_rows());
    if (!source_.has(prefix + "wq.weight")) {
      return matrix(prefix + "wqkv.weight", stack.qkv_rows(), stack.dim, std::move(bias_of), part);
    }
    const int64_t q = stack.heads * stack.head_dim, kv = stack.kv_heads * stack.head_dim;
    return kept(prefix + "wqkv.weight",
                at::cat({source_.weight(prefix + "wq.weight", {q, stack.dim}),
                         source_.weight(prefix + "wk.weight", {kv, stack.dim}),
                         source_.weight(prefix + "wv.weight", {kv, stack.dim})}),
                std::move(bias_of), part);
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
  if (options.saved && options.saved->residual_codes > config.codebook_size) {
    throw Error(Status::kFormat,
                concat("the quantised weights have ", options.saved->residual_codes,
                       " residual codes, the config a table of ", config.codebook_size,
                       "; is config.json from the same checkpoint?"));
  }
  if (options.residual_limit < 0) {
    refuse(concat("residual_limit is ", options.residual_limit, ", expected 0 (none) or more"));
  }
  if (options.dtype != at::kFloat && options.dtype != at::kBFloat16 && options.dtype != at::kHalf) {
    refuse("the language model runs in float32, bfloat16 or float16");
  }
  if (options.int4_group != 0 && options.int4_group != 32 && options.int4_group != 64) {
    refuse(concat("groups of ", options.int4_group, " columns at 4 bits, expected 32 or 64"));
  }
  if (options.weights != Weights::kAsDtype && !options.device.is_cpu()) {
    throw Error(Status::kUnsupported, "8 and 4 bit weights need the CPU; choose the dtype's own");
  }
}

SlowModel build_slow(const LmConfig& config, const LoadOptions& options, WeightSource& source) {
  return Builder(config, options, source).slow();
}

FastModel build_fast(const LmConfig& config, const LoadOptions& options, WeightSource& source) {
  return Builder(config, options, source).fast();
}

}  // namespace remora::lm
