// One codebook of the quantiser: a table of short vectors, and the projections to and from it.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "codec/pass.h"
#include "codec/weights.h"

namespace remora::codec {

// Float32 always: it is small, and near-ties between entries must not be decided by rounding.
class Codebook {
 public:
  enum class Use { kDecode, kEncode };

  // Reads `module`.codebook and .out_proj; for encoding also .in_proj.
  Codebook(Weights& weights, const std::string& module, int64_t entries, int64_t entry_dim,
           int64_t latent_dim, Use use);

  int64_t entries() const { return table_.size(0); }

  // Latent contribution of entry indices. [n] int64, all in range -> [n, latent_dim]
  at::Tensor decode(const at::Tensor& indices) const;

  struct Match {
    at::Tensor indices;       // [n], int64
    at::Tensor contribution;  // [n, latent_dim]: what to take off before the next codebook
  };
  // The entries nearest in direction to latents [n, latent_dim]; the first of equally near ones.
  // Only when made for encoding.
  Match encode(const Pass& pass, const at::Tensor& latents) const;

 private:
  std::string module_;
  at::Tensor table_;           // [entries, entry_dim]
  at::Tensor out_, out_bias_;  // [latent_dim, entry_dim], [latent_dim]
  // To encode:
  at::Tensor in_, in_bias_;  // [entry_dim, latent_dim], [entry_dim]
  at::Tensor directions_;    // [entries, entry_dim]: the table's rows at length 1
  at::Tensor squares_;       // [entries]: their squared lengths, 1 but for rounding
};

}  // namespace remora::codec
