// The graph-safe cache: static storage, static shapes, and a length that lives on the device, so
// that one captured decode step serves every position.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "nn/kv_cache.h"

namespace remora::nn {

// Rows at and behind valid_len are hidden by additive_mask(), never by what the storage holds; only
// NaN and infinity shine through a mask and must not be left there (clear_range).
// Not thread-safe.
class StaticKvCache {
 public:
  // `capacity` zero-filled positions. `valid_len`: a 0-d int32 tensor on the cache's device to
  // share, or undefined for an own one. Throws Error{kInvalidArgument} for a tensor of another
  // type or shape and Error{kDevice} for one on another device.
  StaticKvCache(const KvShape& shape, int64_t capacity, at::Tensor valid_len = {});

  const KvShape& shape() const { return shape_; }
  int64_t capacity() const { return keys_.size(1); }
  // Number of positions that attention may see. 0-d int32, on the device.
  const at::Tensor& valid_len() const { return valid_len_; }

  // Keys and values of one layer over the whole capacity: [1, kv_heads, capacity, head_dim]. The
  // same two views each time; their shape never changes.
  const std::pair<at::Tensor, at::Tensor>& attn(int64_t layer) const;

  // float32 [1, 1, 1, capacity]: 0 where position < valid_len, -1e9 behind. With `out` (float32,
  // that shape) it is filled in place and nothing is allocated.
  at::Tensor additive_mask(at::Tensor out = {}) const;

  // The first `n` positions: [1, kv_heads, n, head_dim], for prefill; not for a captured step,
  // whose shapes must not change. Throws Error{kInvalidArgument} unless 0 <= n <= capacity.
  std::pair<at::Tensor, at::Tensor> view(int64_t layer, int64_t n) const;

  // One row. position: [1] int64 on the device; k, v: [kv_heads, 1, head_dim].
  void write(int64_t layer, const at::Tensor& position, const at::Tensor& k, const at::Tensor& v);

  // Rows start .. start + n - 1. k, v: [kv_heads, n, head_dim]. Throws Error{kContextFull} naming
  // the slots and the capacity unless 0 <= start and start + n <= capacity.
  void write_range(int64_t layer, int64_t start, const at::Tensor& k, const at::Tensor& v);

  // Zeros in rows from .. until - 1 of all layers.
  void clear_range(int64_t from, int64_t until);

  // valid_len = position + 1, on the device. position: [1] int64.
  void mark_written(const at::Tensor& position);

 private:
  KvShape shape_;
  at::Tensor keys_, values_;                              // [layers, capacity, kv_heads, head_dim]
  at::Tensor valid_len_;                                  // 0-d int32
  std::vector<std::pair<at::Tensor, at::Tensor>> views_;  // per layer
  // Constants and scratch of the step path, so that it allocates nothing.
  at::Tensor one_, position_i32_;  // 0-d int32
  at::Tensor zero_, low_, unit_;   // 0-d float32: 0, -1e9, 1
  at::Tensor positions_;           // [1, 1, 1, capacity] float32: 0, 1, 2, ...
  mutable at::Tensor valid_f32_;   // 0-d float32
};

}  // namespace remora::nn
