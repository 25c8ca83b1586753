// The default cache: attention sees exactly the written prefix.
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <vector>

#include "base/concat.h"
#include "base/error.h"
#include "nn/kv_modes.h"
#include "nn/pages.h"

namespace remora::nn {
namespace {

// The first size of a growing cache: a short request fits without a copy.
constexpr int64_t kFirstCapacity = 256;

class ActivePrefixCache final : public KvCache {
 public:
  ActivePrefixCache(const KvShape& shape, int64_t capacity, int64_t limit)
      : KvCache(shape), limit_(limit), fixed_(capacity > 0) {
    layers_.resize(static_cast<size_t>(shape.layers));
    if (fixed_) allocate(capacity);
  }

  KvMode mode() const override { return KvMode::kActivePrefix; }
  int64_t capacity() const override { return capacity_; }

  void reserve(int64_t positions) override {
    if (positions <= capacity_) return;
    const int64_t most = fixed_ ? capacity_ : limit_;
    if (positions > most) {
      throw Error(Status::kContextFull, concat("KV cache: ", positions, " positions are needed, ",
                                               most, " is the most it can hold"));
    }
    const int64_t grown = std::max({positions, kFirstCapacity, capacity_ + capacity_ / 2});
    allocate(std::min(grown, limit_));
  }

  at::Tensor attend(int64_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                    const KvRows& rows, SdpaPolicy policy, SdpaReport& report) override {
    write(layer, k, v, rows);
    const int64_t len = rows.kv_len();
    return attention(q, keys(layer, len), values(layer, len), {}, policy, report);
  }

  void write(int64_t layer, const at::Tensor& k, const at::Tensor& v, const KvRows& rows) override {
    check_rows(rows);
    const at::Tensor& store = layers_[static_cast<size_t>(layer)];
    store.select(0, 0).narrow(1, rows.start, rows.count).copy_(k);
    store.select(0, 1).narrow(1, rows.start, rows.count).copy_(v);
    written_ = std::max(written_, rows.kv_len());
  }

  at::Tensor keys(int64_t layer, int64_t len) const override {
    return layers_[static_cast<size_t>(layer)].select(0, 0).narrow(1, 0, len);
  }
  at::Tensor values(int64_t layer, int64_t len) const override {
    return layers_[static_cast<size_t>(layer)].select(0, 1).narrow(1, 0, len);
  }
  RawKv raw(int64_t layer, const KvRows& rows) override {
    check_rows(rows);
    const at::Tensor& store = layers_[static_cast<size_t>(layer)];
    written_ = std::max(written_, rows.kv_len());
    auto* keys = static_cast<char*>(store.mutable_data_ptr());
    const auto half = store.stride(0) * static_cast<int64_t>(store.element_size());
    return {keys, keys + half, store.stride(1)};
  }

 private:
  // Layer by layer, so that growth needs room for one layer's copy only.
  void allocate(int64_t capacity) {
    const auto options = at::TensorOptions().dtype(shape().dtype).device(shape().device);
    for (at::Tensor& store : layers_) {
      at::Tensor larger =
          untouched_pages({2, shape().kv_heads, capacity, shape().head_dim}, options);
      if (written_ > 0) larger.narrow(2, 0, written_).copy_(store.narrow(2, 0, written_));
      store = std::move(larger);
    }
    capacity_ = capacity;
  }

  std::vector<at::Tensor> layers_;  // each [2 (keys, values), kv_heads, capacity, head_dim]
  int64_t capacity_ = 0;
  int64_t written_ = 0;  // positions that hold something worth copying
  int64_t limit_;
  bool fixed_;
};

}  // namespace

std::unique_ptr<KvCache> make_active_prefix_cache(const KvShape& shape, int64_t capacity,
                                                  int64_t limit) {
  return std::make_unique<ActivePrefixCache>(shape, capacity, limit);
}

}  // namespace remora::nn
