// One codebook of the quantiser: a table of short vectors and the projection back to latents.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "codec/weights.h"

namespace remora::codec {

// Float32 always: it is small, and near-ties between entries must not be decided by rounding.
class Codebook {
 public:
  // Reads `module`.codebook, `module`.out_proj. Entry vectors: [entries, entry_dim].
  Codebook(Weights& weights, const std::string& module, int64_t entries, int64_t entry_dim,
           int64_t latent_dim);

  int64_t entries() const { return table_.size(0); }

  // Latent contribution of entry indices. [n] int64, all in range -> [n, latent_dim]
  at::Tensor decode(const at::Tensor& indices) const;

 private:
  at::Tensor table_;           // [entries, entry_dim]
  at::Tensor out_, out_bias_;  // [latent_dim, entry_dim], [latent_dim]
};

}  // namespace remora::codec
