#include "codec/codebook.h"

#include <ATen/ops/linear.h>

namespace remora::codec {

Codebook::Codebook(Weights& weights, const std::string& module, int64_t entries, int64_t entry_dim,
                   int64_t latent_dim)
    : table_(weights.constant(module + ".codebook.weight", {entries, entry_dim})),
      out_(weights.placed(
          Weights::arranged(weights.folded(module + ".out_proj", {latent_dim, entry_dim, 1}),
                            [](const at::Tensor& weight) { return weight.squeeze(2); }))),
      out_bias_(weights.constant(module + ".out_proj.bias", {latent_dim})) {}

at::Tensor Codebook::decode(const at::Tensor& indices) const {
  return at::linear(table_.index_select(0, indices), out_, out_bias_);
}

}  // namespace remora::codec
