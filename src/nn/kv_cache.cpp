#include "nn/kv_cache.h"

#include <c10/core/ScalarType.h>

#include "base/concat.h"
#include "base/error.h"
#include "nn/kv_modes.h"

namespace remora::nn {

uint64_t KvShape::bytes_per_position() const {
  return static_cast<uint64_t>(2 * layers * kv_heads * head_dim) * c10::elementSize(dtype);
}

uint64_t KvCache::allocated_bytes() const {
  return static_cast<uint64_t>(capacity()) * shape_.bytes_per_position();
}

void KvCache::check_rows(const KvRows& rows) const {
  if (rows.start < 0 || rows.count < 1) {
    throw Error(Status::kInvalidArgument,
                concat("KV cache: kv_len ", rows.kv_len(), " with ", rows.count,
                       " new positions; kv_len is 1 to ", capacity()));
  }
  if (rows.kv_len() > capacity()) {
    throw Error(Status::kContextFull,
                concat("KV cache: kv_len ", rows.kv_len(), " is past the capacity of ", capacity(),
                       " positions; nothing was written"));
  }
}

std::unique_ptr<KvCache> make_kv_cache(KvMode mode, const KvShape& shape, int64_t capacity,
                                       int64_t limit) {
  if (capacity < 0 || capacity > limit) {
    throw Error(Status::kInvalidArgument,
                concat("KV cache: capacity ", capacity, " is outside 0 to ", limit, " positions"));
  }
  if (mode == KvMode::kActivePrefix) return make_active_prefix_cache(shape, capacity, limit);
  if (capacity == 0) {
    throw Error(Status::kInvalidArgument,
                "KV cache: modes FULL and GRAPH have a fixed size; give a capacity");
  }
  if (mode == KvMode::kFull) return make_full_cache(shape, capacity);
  return make_graph_cache(shape, capacity);
}

}  // namespace remora::nn
