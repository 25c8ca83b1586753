// Constructors of the three KvCache modes; callers use make_kv_cache().
#pragma once

#include <cstdint>
#include <memory>

#include "nn/kv_cache.h"

namespace remora::nn {

// capacity 0 grows up to `limit`.
std::unique_ptr<KvCache> make_active_prefix_cache(const KvShape& shape, int64_t capacity,
                                                  int64_t limit);
std::unique_ptr<KvCache> make_full_cache(const KvShape& shape, int64_t capacity);
std::unique_ptr<KvCache> make_graph_cache(const KvShape& shape, int64_t capacity);

}  // namespace remora::nn
