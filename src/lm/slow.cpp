#include "lm/slow.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/sum.h>
#include <ATen/ops/where.h>

#include <cmath>
#include <utility>

#include "lm/table.h"

namespace remora::lm {

SlowModel::SlowModel(const LmConfig& config, int32_t semantic_begin, int32_t semantic_end,
                     Transformer transformer, Parts parts)
    : num_codebooks_(config.num_codebooks),
      codebook_size_(config.codebook_size),
      scale_embeddings_(config.scale_codebook_embeddings),
      norm_hidden_(config.norm_fast_input),
      semantic_begin_(semantic_begin),
      semantic_end_(semantic_end),
      transformer_(std::move(transformer)),
      parts_(std::move(parts)) {}

at::Tensor SlowModel::embed(std::span<const int32_t> columns, at::ScalarType dtype,
                            at::Device device) const {
  const int64_t stride = num_codebooks_ + 1;
  const int64_t n = static_cast<int64_t>(columns.size()) / stride;
  const auto index = at::TensorOptions().dtype(at::kLong);
  at::Tensor tokens = at::empty({n}, index);
  at::Tensor codes = at::empty({n * num_codebooks_}, index);
  at::Tensor semantic = at::empty({n, 1}, at::TensorOptions().dtype(at::kBool));
  for (int64_t i = 0; i < n; ++i) {
    const int32_t* column = columns.data() + i * stride;
    tokens.mutable_data_ptr<int64_t>()[i] = column[0];
    semantic.mutable_data_ptr<bool>()[i] =
        column[0] >= semantic_begin_ && column[0] <= semantic_end_;
    for (int64_t j = 0; j < num_codebooks_; ++j) {
      codes.mutable_data_ptr<int64_t>()[i * num_codebooks_ + j] =
          column[1 + j] + j * codebook_size_;
    }
  }
  const at::Tensor text = parts_.embeddings.index_select(0, tokens).to(dtype);  // [n, dim]
  const at::Tensor rows = parts_.codebook_embeddings.index_select(0, codes).to(dtype);
  // Summed in float32, rounded once; then added and rounded; then scaled and rounded.
  at::Tensor whole =
      text + rows.view({n, num_codebooks_, -1}).sum(1, /*keepdim=*/false, at::kFloat).to(dtype);
  if (scale_embeddings_) whole = whole / std::sqrt(static_cast<double>(num_codebooks_ + 1));
  return at::where(semantic, whole, text).to(device);
}

void SlowModel::embed_column(std::span<const int32_t> column, std::span<float> out) const {
  read_row(parts_.embeddings, column[0], out);
  if (column[0] < semantic_begin_ || column[0] > semantic_end_) return;
  for (int64_t j = 0; j < num_codebooks_; ++j) {
    add_row(parts_.codebook_embeddings, column[static_cast<size_t>(1 + j)] + j * codebook_size_,
            out);
  }
  if (!scale_embeddings_) return;
  const float root = std::sqrt(static_cast<float>(num_codebooks_ + 1));
  for (float& value : out) value /= root;
}

SlowOutput SlowModel::output(const at::Tensor& x) const {
  const at::Tensor last = x.narrow(0, x.size(0) - 1, 1);  // [1, dim]
  const at::Tensor normed = transformer_.norm(last, parts_.norm);
  const at::Tensor& hidden = norm_hidden_ ? normed : last;
  return {parts_.head(normed).select(0, 0).to(at::kFloat),
          (parts_.has_project ? parts_.project(hidden) : hidden).to(at::kFloat)};
}

uint64_t SlowModel::bytes() const {
  return transformer_.bytes() + parts_.embeddings.nbytes() + parts_.codebook_embeddings.nbytes() +
         parts_.norm.nbytes() + parts_.head.bytes() +
         (parts_.has_project ? parts_.project.bytes() : 0);
}

}  // namespace remora::lm
