// The fast model: a hidden vector and the codes so far in, logits of the next code out.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>

#include "lm/transformer.h"

namespace remora::lm {

// Immutable; safe from several threads.
class FastModel {
 public:
  struct Parts {
    at::Tensor embeddings;  // [codebook_size, fast dim] in the checkpoint's dtype
    at::Tensor norm;        // [fast dim]
    nn::Linear head;        // fast dim -> codes that may be sampled
  };
  FastModel(Transformer transformer, Parts parts)
      : transformer_(std::move(transformer)), parts_(std::move(parts)) {}

  // The input vector of one code: [1, fast dim] in `dtype` on `device`.
  at::Tensor embed(int32_t code, at::ScalarType dtype, at::Device device) const;
  // Logits at the last of the block outputs x [n, fast dim]: [codes] float32.
  at::Tensor output(const at::Tensor& x) const;

  const Transformer& transformer() const { return transformer_; }
  const Parts& parts() const { return parts_; }
  uint64_t bytes() const;

 private:
  Transformer transformer_;
  Parts parts_;
};

}  // namespace remora::lm
