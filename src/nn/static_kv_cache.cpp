#include "nn/static_kv_cache.h"

#include <ATen/ops/add.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/clamp.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/sub.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/DeviceType.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/concat.h"
#include "base/error.h"

namespace remora::nn {
namespace {

constexpr double kHidden = -1e9;

void check_valid_len(const at::Tensor& valid_len, at::Device device) {
  if (valid_len.dim() != 0 || valid_len.scalar_type() != at::kInt) {
    throw Error(Status::kInvalidArgument,
                concat("static KV cache: valid_len is ", shape_text(valid_len.sizes()), " of ",
                       c10::toString(valid_len.scalar_type()), ", expected a 0-d int32 tensor"));
  }
  if (valid_len.device() != device) {
    throw Error(Status::kDevice,
                concat("static KV cache: valid_len is on ", valid_len.device().str(),
                       ", the cache on ", device.str(), "; a captured step cannot read it there"));
  }
}

}  // namespace

StaticKvCache::StaticKvCache(const KvShape& shape, int64_t capacity, at::Tensor valid_len)
    : shape_(shape), valid_len_(std::move(valid_len)) {
  const auto store = at::TensorOptions().dtype(shape.dtype).device(shape.device);
  const auto f32 = store.dtype(at::kFloat);
  if (valid_len_.defined()) {
    check_valid_len(valid_len_, at::empty({0}, store).device());
  } else {
    valid_len_ = at::zeros({}, store.dtype(at::kInt));
  }
  keys_ = at::zeros({shape.layers, capacity, shape.kv_heads, shape.head_dim}, store);
  values_ = at::zeros_like(keys_);
  for (int64_t layer = 0; layer < shape.layers; ++layer) {
    views_.emplace_back(keys_.select(0, layer).transpose(0, 1).unsqueeze(0),
                        values_.select(0, layer).transpose(0, 1).unsqueeze(0));
  }
  one_ = at::full({}, 1, store.dtype(at::kInt));
  position_i32_ = at::zeros({}, store.dtype(at::kInt));
  zero_ = at::zeros({}, f32);
  unit_ = at::full({}, 1, f32);
  low_ = at::full({}, kHidden, f32);
  valid_f32_ = at::zeros({}, f32);
  positions_ = at::arange(capacity, f32).reshape({1, 1, 1, capacity});
}

const std::pair<at::Tensor, at::Tensor>& StaticKvCache::attn(int64_t layer) const {
  return views_[static_cast<size_t>(layer)];
}

at::Tensor StaticKvCache::additive_mask(at::Tensor out) const {
  if (!out.defined()) out = at::empty_like(positions_);
  // -1e9 * clamp(position - valid_len + 1, 0, 1), with every operand a tensor of one dtype: a
  // scalar operand or a conversion inside an operator would allocate.
  valid_f32_.copy_(valid_len_);
  at::sub_out(out, positions_, valid_f32_);
  at::add_out(out, out, unit_);
  at::clamp_out(out, out, zero_, unit_);
  out.mul_(low_);
  return out;
}

std::pair<at::Tensor, at::Tensor> StaticKvCache::view(int64_t layer, int64_t n) const {
  if (n < 0 || n > capacity()) {
    throw Error(Status::kInvalidArgument, concat("static KV cache: a view of ", n,
                                                 " positions is outside 0 to ", capacity()));
  }
  const auto& [k, v] = attn(layer);
  return {k.narrow(2, 0, n), v.narrow(2, 0, n)};
}

void StaticKvCache::write(int64_t layer, const at::Tensor& position, const at::Tensor& k,
                          const at::Tensor& v) {
  // [capacity, kv_heads, head_dim] <- [1, kv_heads, head_dim]
  keys_.select(0, layer).index_copy_(0, position, k.transpose(0, 1));
  values_.select(0, layer).index_copy_(0, position, v.transpose(0, 1));
}

void StaticKvCache::write_range(int64_t layer, int64_t start, const at::Tensor& k,
                                const at::Tensor& v) {
  const int64_t n = k.size(1);
  if (start < 0 || n > capacity() || start > capacity() - n) {
    const int64_t last = std::min(start, std::numeric_limits<int64_t>::max() - n) + n - 1;
    throw Error(Status::kContextFull,
                concat("static KV cache: slots ", start, " to ", last, " overflow the capacity of ",
                       capacity(), "; nothing was written"));
  }
  keys_.select(0, layer).narrow(0, start, n).copy_(k.transpose(0, 1));
  values_.select(0, layer).narrow(0, start, n).copy_(v.transpose(0, 1));
}

void StaticKvCache::clear_range(int64_t from, int64_t until) {
  if (from >= until) return;
  for (const at::Tensor& store : {keys_, values_}) store.narrow(1, from, until - from).zero_();
}

void StaticKvCache::mark_written(const at::Tensor& position) {
  const at::Tensor at_zero_dims = position.dim() == 0 ? position : position.select(0, 0);
  // By way of a tensor of valid_len's dtype: a conversion inside the operator would allocate.
  position_i32_.copy_(at_zero_dims);
  at::add_out(valid_len_, position_i32_, one_);
}

}  // namespace remora::nn
