#include "codec/matrix.h"

#include <ATen/ops/linear.h>

namespace remora::codec {

Matrix::Matrix(Weights& weights, const std::string& name, int64_t out, int64_t in,
               const std::string& bias)
    : compute_(weights.compute()) {
  weight_ = weights.moved(weights.plain(name, {out, in}), compute_);
  if (!bias.empty()) bias_ = weights.moved(weights.plain(bias, {out}), compute_);
  if (nn::TileMatrix::fits(weights.device(), compute_, out, in)) {
    tiles_.emplace(weight_.unsqueeze(2), bias_);
    weights.count(tiles_->bytes());
    weight_ = bias_ = at::Tensor();
    return;
  }
  weights.count(weight_.nbytes() + (bias_.defined() ? bias_.nbytes() : 0));
}

at::Tensor Matrix::computed(const at::Tensor& x) const { return x.to(compute_).contiguous(); }

at::Tensor Matrix::apply(const at::Tensor& x) const {
  return tiles_ ? tiles_->apply(computed(x)) : at::linear(computed(x), weight_, bias_);
}

at::Tensor Matrix::apply_wide(const at::Tensor& x) const {
  return tiles_ ? tiles_->apply_wide(computed(x)) : apply(x).to(at::kFloat);
}

}  // namespace remora::codec
