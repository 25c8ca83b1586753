// The measured baseline: every pass reads the whole capacity, with key heads repeated for every
// query head and the unwritten tail hidden by a mask.
#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>

#include "base/concat.h"
#include "base/error.h"
#include "nn/kv_modes.h"

namespace remora::nn {
namespace {

class FullCache final : public KvCache {
 public:
  FullCache(const KvShape& shape, int64_t capacity)
      : KvCache(shape),
        store_(at::zeros({shape.layers, 2, shape.kv_heads, capacity, shape.head_dim},
                         at::TensorOptions().dtype(shape.dtype).device(shape.device))) {}

  KvMode mode() const override { return KvMode::kFull; }
  int64_t capacity() const override { return store_.size(3); }

  void reserve(int64_t positions) override {
    if (positions <= capacity()) return;
    throw Error(Status::kContextFull, concat("KV cache: ", positions, " positions are needed, ",
                                             capacity(), " is the most it can hold"));
  }

  at::Tensor attend(int64_t layer, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                    const KvRows& rows, SdpaPolicy policy, SdpaReport& report) override {
    write(layer, k, v, rows);
    const int64_t groups = q.size(0) / shape().kv_heads;
    const at::Tensor all_k = keys(layer, capacity()).repeat_interleave(groups, 0);
    const at::Tensor all_v = values(layer, capacity()).repeat_interleave(groups, 0);
    return attention(q, all_k, all_v, mask(rows, q.options()), policy, report);
  }

  void write(int64_t layer, const at::Tensor& k, const at::Tensor& v, const KvRows& rows) override {
    check_rows(rows);
    keys(layer, capacity()).narrow(1, rows.start, rows.count).copy_(k);
    values(layer, capacity()).narrow(1, rows.start, rows.count).copy_(v);
  }

  void forget(int64_t from, int64_t until) override {
    if (from < until) store_.narrow(3, from, until - from).zero_();
  }

  at::Tensor keys(int64_t layer, int64_t len) const override {
    return store_.select(0, layer).select(0, 0).narrow(1, 0, len);
  }
  at::Tensor values(int64_t layer, int64_t len) const override {
    return store_.select(0, layer).select(0, 1).narrow(1, 0, len);
  }

 private:
  // [count, capacity]: row i sees 0 .. start + i. Made once a pass, not once a layer.
  const at::Tensor& mask(const KvRows& rows, const at::TensorOptions& options) {
    if (!mask_.defined() || rows.start != masked_.start || rows.count != masked_.count) {
      mask_ = causal_mask(rows.start, rows.count, capacity(), options);
      masked_ = rows;
    }
    return mask_;
  }

  at::Tensor store_;  // [layers, 2 (keys, values), kv_heads, capacity, head_dim]
  at::Tensor mask_;
  KvRows masked_;
};

}  // namespace

std::unique_ptr<KvCache> make_full_cache(const KvShape& shape, int64_t capacity) {
  return std::make_unique<FullCache>(shape, capacity);
}

}  // namespace remora::nn
