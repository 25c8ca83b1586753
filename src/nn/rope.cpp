#include "nn/rope.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/stack.h>

#include <algorithm>

namespace remora::nn {

at::Tensor rope_table(int64_t first, int64_t count, int64_t head_dim, double base) {
  const auto f32 = at::TensorOptions().dtype(at::kFloat);
  // Each step in float32: a float64 table differs in 2 % of the rounded entries.
  const at::Tensor exponent = at::arange(0, head_dim, 2, f32).div(head_dim);  // [head_dim / 2]
  const at::Tensor frequency = at::reciprocal(at::pow(base, exponent));       // [head_dim / 2]
  const at::Tensor position = at::arange(first, first + count, f32);          // [count]
  const at::Tensor angle = at::outer(position, frequency);  // [count, head_dim / 2]
  const at::Tensor table = at::stack({at::cos(angle), at::sin(angle)}, -1);
  return table.to(at::kBFloat16).to(at::kFloat);  // [count, head_dim / 2, 2]
}

at::Tensor rope_rotate(const at::Tensor& x, const at::Tensor& table) {
  std::vector<int64_t> pairs = x.sizes().vec();
  pairs.back() /= 2;
  pairs.push_back(2);
  const at::Tensor paired = x.to(at::kFloat).reshape(pairs);  // [..., seq, head_dim / 2, 2]
  const at::Tensor a = paired.select(-1, 0);
  const at::Tensor b = paired.select(-1, 1);
  const at::Tensor cos = table.select(-1, 0);  // [seq, head_dim / 2]
  const at::Tensor sin = table.select(-1, 1);
  const at::Tensor rotated = at::stack({a * cos - b * sin, b * cos + a * sin}, -1);
  return rotated.reshape(x.sizes()).to(x.scalar_type());
}

RopeCache::RopeCache(int64_t head_dim, double base, at::Device device)
    : head_dim_(head_dim), base_(base), device_(device) {}

void RopeCache::reserve(int64_t positions) {
  constexpr int64_t kFirst = 256;
  const int64_t held = table_.defined() ? table_.size(0) : 0;
  if (positions <= held) return;
  // Half as much again, so that growth costs O(1) a position.
  const int64_t grown = std::max({positions, held + held / 2, kFirst});
  table_ = rope_table(0, grown, head_dim_, base_).to(device_);
}

at::Tensor RopeCache::rows(int64_t start, int64_t count) {
  reserve(start + count);
  return table_.narrow(0, start, count);
}

const float* RopeCache::data(int64_t start, int64_t count) {
  reserve(start + count);
  return table_.const_data_ptr<float>() + start * head_dim_;
}

at::Tensor RopeCache::row_at(const at::Tensor& position) const {
  return table_.index_select(0, position);
}

}  // namespace remora::nn
