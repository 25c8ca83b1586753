// The slow model: columns over time in, logits of the next main token and a hidden vector out.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <vector>

#include "lm/transformer.h"

namespace remora::lm {

struct SlowOutput {
  at::Tensor logits;  // [head rows] float32
  at::Tensor hidden;  // [1, fast dim] float32
};

// Immutable; safe from several threads.
class SlowModel {
 public:
  struct Parts {
    // Tables in the checkpoint's dtype: only the rows that are looked up are converted.
    at::Tensor embeddings;           // [vocab, dim]
    at::Tensor codebook_embeddings;  // [num_codebooks * codebook_size, dim]
    at::Tensor norm;                 // [dim]
    nn::Linear head;                 // dim -> one row per head token
    // Main tokens that may be sampled, ascending: the semantic range and the end token.
    std::vector<int32_t> head_tokens;
    nn::Linear project;  // dim -> fast dim; empty when they are equal
    bool has_project = false;
  };
  SlowModel(const LmConfig& config, int32_t semantic_begin, int32_t semantic_end,
            Transformer transformer, Parts parts);

  // columns: whole columns of 1 + num_codebooks integers, one after the other, ids within their
  // tables. Returns [columns, dim] in `dtype` on `device`. A semantic column is the token's row
  // plus one row per code, over sqrt(num_codebooks + 1) if the config says so; codes of other
  // columns do not count.
  at::Tensor embed(std::span<const int32_t> columns, at::ScalarType dtype, at::Device device) const;

  // The same for one column in CPU memory, in float32 throughout. out: [dim].
  void embed_column(std::span<const int32_t> column, std::span<float> out) const;

  // The outputs at the last of the block outputs x [n, dim].
  SlowOutput output(const at::Tensor& x) const;

  const Transformer& transformer() const { return transformer_; }
  std::span<const int32_t> head_tokens() const { return parts_.head_tokens; }
  const Parts& parts() const { return parts_; }
  uint64_t bytes() const;

 private:
  int64_t num_codebooks_, codebook_size_;
  bool scale_embeddings_, norm_hidden_;
  int32_t semantic_begin_, semantic_end_;
  Transformer transformer_;
  Parts parts_;
};

}  // namespace remora::lm
