// StaticKvCache as one of the modes: prefill writes ranges, a step writes at a device position.
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include "base/concat.h"
#include "base/error.h"
#include "nn/kv_modes.h"
#include "nn/static_kv_cache.h"

namespace remora::nn {
namespace {

class GraphCache final : public KvCache {
 public:
  GraphCache(const KvShape& shape, int64_t capacity)
      : KvCache(shape), cache_(shape, capacity), mask_(cache_.additive_mask()) {}

  KvMode mode() const override { return KvMode::kGraph; }
  int64_t capacity() const override { return cache_.capacity(); }

  void reserve(int64_t positions) override {
    if (positions <= capacity()) return;
    throw Error(Status::kContextFull, concat("KV cache: ", positions, " positions are needed, ",
                                             capacity(), " is the most it can hold"));
  }

  at::Tensor attend(int64_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                    const KvRows& rows, SdpaPolicy policy, SdpaReport& report) override {
    check_rows(rows);
    // Another default was measured to slow captured decoding down several times.
    if (policy == SdpaPolicy::kAuto) policy = SdpaPolicy::kMath;
    if (!rows.device_start.defined()) {
      write(layer, k, v, rows);
      return attention(q, keys(layer, rows.kv_len()), values(layer, rows.kv_len()), {}, policy,
                       report);
    }
    cache_.write(layer, rows.device_start, k, v);
    if (layer == 0) {
      cache_.mark_written(rows.device_start);
      cache_.additive_mask(mask_);
    }
    const auto& [all_k, all_v] = cache_.attn(layer);
    return attention(q, all_k.select(0, 0), all_v.select(0, 0), mask_, policy, report);
  }

  void write(int64_t layer, const at::Tensor& k, const at::Tensor& v, const KvRows& rows) override {
    check_rows(rows);
    cache_.write_range(layer, rows.start, k, v);
  }

  void forget(int64_t from, int64_t until) override { cache_.clear_range(from, until); }

  at::Tensor keys(int64_t layer, int64_t len) const override {
    return cache_.view(layer, len).first.select(0, 0);
  }
  at::Tensor values(int64_t layer, int64_t len) const override {
    return cache_.view(layer, len).second.select(0, 0);
  }

 private:
  StaticKvCache cache_;
  at::Tensor mask_;  // [1, 1, 1, capacity] float32, refilled by each step's first layer
};

}  // namespace

std::unique_ptr<KvCache> make_graph_cache(const KvShape& shape, int64_t capacity) {
  return std::make_unique<GraphCache>(shape, capacity);
}

}  // namespace remora::nn
