// A matrix of the compute type applied to rows.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>

#include "codec/weights.h"
#include "nn/tile_matrix.h"

namespace remora::codec {

// y = x W^T + b. In tiles where the processor multiplies such, by LibTorch otherwise.
class Matrix {
 public:
  Matrix() = default;
  // Reads tensor `name`, [out, in], and tensor `bias`, [out]; an empty name: none.
  Matrix(Weights& weights, const std::string& name, int64_t out, int64_t in,
         const std::string& bias = {});

  // x: [n, in] of any type.
  at::Tensor apply(const at::Tensor& x) const;       // [n, out] of the compute type
  at::Tensor apply_wide(const at::Tensor& x) const;  // [n, out] float32

 private:
  at::Tensor computed(const at::Tensor& x) const;

  at::ScalarType compute_ = at::kFloat;
  at::Tensor weight_, bias_;  // [out, in], [out]; undefined in tiles
  std::optional<nn::TileMatrix> tiles_;
};

}  // namespace remora::codec
