// Causal transformer whose attention reaches a fixed number of tokens back.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "codec/config.h"
#include "codec/matrix.h"
#include "codec/pass.h"
#include "codec/weights.h"

namespace remora::codec {

// Layers of x + gamma_a * attention(norm(x)), then x + gamma_f * W2(silu(W1 u) * (W3 u)) with
// u = norm(x); a norm at the end. The residual stream and the norms are float32, the products of
// the compute type. A stream carries the rotated keys and the values of the last window - 1 tokens.
class WindowTransformer {
 public:
  // `tokens_per_frame`: tokens that one code frame makes here.
  WindowTransformer(Weights& weights, StateLayout& layout, const std::string& module,
                    const TransformerConfig& config, int64_t tokens_per_frame);

  // [n, dim] float32 in and out. Positions follow from the state's frame count, so n tokens must
  // be whole frames.
  at::Tensor forward(Pass& pass, const at::Tensor& x) const;

 private:
  struct Layer {
    std::string module;
    size_t keys, values;                    // slots, [heads, tokens, head_dim]
    at::Tensor attention_norm, ffn_norm;    // [dim], float32
    at::Tensor attention_scale, ffn_scale;  // [dim], float32
    Matrix qkv, out;                        // dim -> 3 * dim, dim -> dim
    Matrix gate, up, down;                  // dim -> intermediate twice, and back
  };
  // What the layers of one pass share.
  struct Positions {
    at::Tensor rotation;  // [n, head_dim / 2, 2], float32
    at::Tensor mask;      // [n, cached + n], 0 or -inf; undefined when every key is visible
  };

  Layer make_layer(Weights& weights, StateLayout& layout, const std::string& module) const;
  Positions positions(const Pass& pass, int64_t n) const;
  // [n, dim] float32, both: before the layer's scale.
  at::Tensor attend(Pass& pass, const Layer& layer, const Positions& at_positions,
                    const at::Tensor& x) const;
  at::Tensor feed_forward(const Pass& pass, const Layer& layer, const at::Tensor& x) const;
  // Cached tokens and the new ones; the last window - 1 become the next cache.
  at::Tensor extend(Pass& pass, size_t slot, const at::Tensor& fresh) const;

  std::string module_;
  TransformerConfig config_;
  int64_t tokens_per_frame_;
  at::ScalarType compute_;
  std::vector<Layer> layers_;
  at::Tensor norm_;  // [dim], float32
};

}  // namespace remora::codec
