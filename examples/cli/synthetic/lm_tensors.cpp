#include "synthetic/lm_tensors.h"

#include <cmath>
#include <string>

namespace remora::cli {
namespace {

// Of what a layer adds to the stream, so that any number of layers keeps it near unit power.
double branch_gain(int64_t n_layer) { return 1 / std::sqrt(2.0 * static_cast<double>(n_layer)); }

// Small beside a stream of about unit power, and not zero.
constexpr double kBiasDeviation = 0.1;

class LmList {
 public:
  explicit LmList(const LmShape& shape) : shape_(shape), nested_(shape.family == Family::kS2Pro) {}

  std::vector<TensorSpec> build() && {
    const std::string slow = nested_ ? "text_model.model." : "";
    const std::string fast = nested_ ? "audio_decoder." : "fast_";
    const std::string tables = nested_ ? "audio_decoder." : "";
    const int64_t dim = shape_.slow.dim;
    const double row = kLogitDeviation / std::sqrt(static_cast<double>(dim));
    const double fast_row = kLogitDeviation / std::sqrt(static_cast<double>(shape_.fast.dim));

    add(slow + "embeddings.weight", {shape_.vocab_size, dim}, {0, row});
    add(tables + "codebook_embeddings.weight", {shape_.codebook_size * shape_.n_codebooks, dim},
        {0, row});
    stack(slow, shape_.slow);
    add(slow + "norm.weight", {dim}, {1, 0});
    if (!nested_) add("output.weight", {shape_.vocab_size, dim}, {0, row});

    if (shape_.fast.dim != dim) {
      linear(fast + "project_in.weight", shape_.fast.dim, dim);
      add(fast + "project_in.bias", {shape_.fast.dim}, {0, kBiasDeviation});
    }
    add(fast + "embeddings.weight", {shape_.codebook_size, shape_.fast.dim}, {0, fast_row});
    stack(fast, shape_.fast);
    add(fast + "norm.weight", {shape_.fast.dim}, {1, 0});
    add(fast + "output.weight", {shape_.codebook_size, shape_.fast.dim}, {0, fast_row});
    return std::move(tensors_);
  }

 private:
  void add(std::string name, std::vector<int64_t> shape, Fill fill) {
    tensors_.push_back({std::move(name), std::move(shape), Dtype::kBf16, fill, {}});
  }

  void linear(const std::string& name, int64_t out, int64_t in, double gain = 1) {
    add(name, {out, in}, {0, gain / std::sqrt(static_cast<double>(in))});
  }

  void stack(const std::string& prefix, const StackShape& stack) {
    const int64_t inner = stack.n_head * stack.head_dim;
    const int64_t all_heads = (stack.n_head + 2 * stack.n_kv_head) * stack.head_dim;
    const double gain = branch_gain(stack.n_layer);
    for (int64_t i = 0; i < stack.n_layer; ++i) {
      const std::string layer = prefix + "layers." + std::to_string(i) + ".";
      linear(layer + "attention.wqkv.weight", all_heads, stack.dim);
      linear(layer + "attention.wo.weight", stack.dim, inner, gain);
      if (stack.qk_norm) {
        add(layer + "attention.q_norm.weight", {stack.head_dim}, {1, 0});
        add(layer + "attention.k_norm.weight", {stack.head_dim}, {1, 0});
      }
      linear(layer + "feed_forward.w1.weight", stack.intermediate, stack.dim);
      linear(layer + "feed_forward.w3.weight", stack.intermediate, stack.dim);
      linear(layer + "feed_forward.w2.weight", stack.dim, stack.intermediate, gain);
      add(layer + "attention_norm.weight", {stack.dim}, {1, 0});
      add(layer + "ffn_norm.weight", {stack.dim}, {1, 0});
    }
  }

  const LmShape& shape_;
  const bool nested_;
  std::vector<TensorSpec> tensors_;
};

}  // namespace

std::vector<TensorSpec> lm_tensors(const LmShape& shape) { return LmList(shape).build(); }

}  // namespace remora::cli
