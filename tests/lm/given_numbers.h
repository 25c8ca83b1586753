// A source of uniform numbers that were written down beforehand.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "lm/rng.h"

namespace remora::test {

// Draw i takes row i: a float32 vector with one number per word.
class GivenNumbers final : public lm::UniformSource {
 public:
  explicit GivenNumbers(std::vector<at::Tensor> rows) : rows_(std::move(rows)) {}

  void draw(int64_t /*count*/, std::span<const int32_t> indices, std::span<float> out) override {
    const at::Tensor& row = rows_.at(static_cast<size_t>(draws_++));
    for (size_t i = 0; i < indices.size(); ++i) out[i] = row[indices[i]].item<float>();
  }
  int64_t draws() const { return draws_; }

 private:
  std::vector<at::Tensor> rows_;
  int64_t draws_ = 0;
};

inline std::vector<float> to_vector(const at::Tensor& tensor) {
  const at::Tensor flat = tensor.contiguous();
  return {flat.const_data_ptr<float>(), flat.const_data_ptr<float>() + flat.numel()};
}

}  // namespace remora::test
