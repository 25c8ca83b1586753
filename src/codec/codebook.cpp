#include "codec/codebook.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/matmul.h>

namespace remora::codec {
namespace {

constexpr double kShortest = 1e-12;  // a vector shorter than this keeps its length

at::Tensor lengths_squared(const at::Tensor& vectors) { return (vectors * vectors).sum(1); }

// Rows of length 1. [n, dim]
at::Tensor normalised(const at::Tensor& vectors) {
  return vectors / vectors.norm(2, 1, /*keepdim=*/true).clamp_min(kShortest);
}

// A 1x1 convolution's weight as a matrix.
at::Tensor projection(Weights& weights, const std::string& module, int64_t out, int64_t in) {
  return weights.placed(weights.folded(module, {out, in, 1}).squeeze(2));
}

}  // namespace

Codebook::Codebook(Weights& weights, const std::string& module, int64_t entries, int64_t entry_dim,
                   int64_t latent_dim, Use use)
    : module_(module),
      table_(weights.constant(module + ".codebook.weight", {entries, entry_dim})),
      out_(projection(weights, module + ".out_proj", latent_dim, entry_dim)),
      out_bias_(weights.constant(module + ".out_proj.bias", {latent_dim})) {
  if (use == Use::kDecode) return;
  in_ = projection(weights, module + ".in_proj", entry_dim, latent_dim);
  in_bias_ = weights.constant(module + ".in_proj.bias", {entry_dim});
  directions_ = normalised(table_);
  squares_ = lengths_squared(directions_);
  weights.count(directions_.nbytes() + squares_.nbytes());
}

at::Tensor Codebook::decode(const at::Tensor& indices) const {
  return at::linear(table_.index_select(0, indices), out_, out_bias_);
}

Codebook::Match Codebook::encode(const Pass& pass, const at::Tensor& latents) const {
  const at::Tensor projected = at::linear(latents, in_, in_bias_);  // [n, entry_dim]
  pass.note(module_, ".in_proj", projected);
  const at::Tensor directions = normalised(projected);
  // Squared distances with all three terms, in this order: near-ties fall as in training. [n,
  // entries]
  const at::Tensor distances = lengths_squared(directions).unsqueeze(1) -
                               2 * at::matmul(directions, directions_.t()) + squares_;
  Match match;
  match.indices = distances.argmin(1);
  // What training subtracts: not the entry itself but projected + (entry - projected), which
  // differs from it in the last bit.
  const at::Tensor entries = table_.index_select(0, match.indices);
  match.contribution =
      at::linear(projected + (entries - projected), out_, out_bias_);  // [n, latent_dim]
  pass.note(module_, ".out_proj", match.contribution);
  return match;
}

}  // namespace remora::codec
