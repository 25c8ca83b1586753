// Keys and values of past positions: three storage modes behind one interface.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "nn/sdpa.h"

namespace remora::nn {

// Values equal REMORA_KV_* in remora.h.
//   kActivePrefix  attention sees the written positions only; the default
//   kFull          attention sees the whole capacity behind a mask, heads expanded: the baseline
//                  that measurements compare with
//   kGraph         static storage and shapes, for steps that are captured once and replayed
enum class KvMode : int32_t { kActivePrefix = 0, kFull = 1, kGraph = 2 };

struct KvShape {
  int64_t layers = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;
  at::ScalarType dtype = at::kFloat;
  at::Device device = at::kCPU;

  // Keys and values of one position over all layers.
  uint64_t bytes_per_position() const;
};

// Where the rows of one forward pass go.
struct KvRows {
  int64_t start = 0;  // position of the first row
  int64_t count = 0;
  // kGraph steps only: `start` as a one-element int64 tensor on the cache's device, which a
  // captured step reads in place of the host's number. Undefined elsewhere.
  at::Tensor device_start;

  int64_t kv_len() const { return start + count; }
};

// The memory of one layer, for kernels that read and write it themselves.
struct RawKv {
  void* keys = nullptr;  // [kv_heads, capacity, head_dim] in the cache's dtype
  void* values = nullptr;
  int64_t head_stride = 0;  // elements from one head to the next
};

// One session's cache. Not thread-safe.
class KvCache {
 public:
  virtual ~KvCache() = default;
  KvCache(const KvCache&) = delete;
  KvCache& operator=(const KvCache&) = delete;

  const KvShape& shape() const { return shape_; }
  virtual KvMode mode() const = 0;
  // Positions there is room for now.
  virtual int64_t capacity() const = 0;
  // Memory reserved, whether touched yet or not.
  uint64_t allocated_bytes() const;

  // Makes room for `positions` before a pass is begun. Throws Error{kContextFull} naming both
  // numbers when the capacity is fixed below it or the limit is reached; nothing is written then.
  virtual void reserve(int64_t positions) = 0;

  // Stores k, v [kv_heads, rows.count, head_dim] of one layer at the rows, then attends with
  // q [heads, rows.count, head_dim]: query i sees positions 0 .. rows.start + i.
  // Returns [rows.count, heads * head_dim]. Throws Error{kContextFull} when the rows do not fit
  // and Error{kInvalidArgument} when they are empty or negative.
  virtual at::Tensor attend(int64_t layer, const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v, const KvRows& rows, SdpaPolicy policy,
                            SdpaReport& report) = 0;

  // Positions 0 .. len - 1 of one layer as stored: [kv_heads, len, head_dim] views.
  virtual at::Tensor keys(int64_t layer, int64_t len) const = 0;
  virtual at::Tensor values(int64_t layer, int64_t len) const = 0;
  // Stores rows without attending, for restoring a saved session.
  virtual void write(int64_t layer, const at::Tensor& k, const at::Tensor& v,
                     const KvRows& rows) = 0;
  // For a caller that stores `rows` itself, which counts as done: checks them as attend() does.
  // Null pointers where the mode does not allow it.
  virtual RawKv raw(int64_t /*layer*/, const KvRows& /*rows*/) { return {}; }
  // Positions from .. until - 1 count no more. Modes that go on reading them behind a mask fill
  // them with zeros: a mask hides every number, but not NaN or infinity, which would spoil all that
  // follows.
  virtual void forget(int64_t /*from*/, int64_t /*until*/) {}

 protected:
  explicit KvCache(const KvShape& shape) : shape_(shape) {}
  // Error{kInvalidArgument} or Error{kContextFull} unless 0 <= start and 1 <= kv_len <= capacity.
  void check_rows(const KvRows& rows) const;

 private:
  KvShape shape_;
};

// `capacity` positions, fixed; 0 lets a kActivePrefix cache grow with use up to `limit` positions
// (by half its size each time, so that growth costs O(1) a position). kFull and kGraph need a
// capacity: Error{kInvalidArgument}. Memory of positions that were never written stays untouched
// in kActivePrefix.
std::unique_ptr<KvCache> make_kv_cache(KvMode mode, const KvShape& shape, int64_t capacity,
                                       int64_t limit);

}  // namespace remora::nn
