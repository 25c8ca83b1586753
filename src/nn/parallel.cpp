#include "nn/parallel.h"

#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>
#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <atomic>

namespace remora::nn {

void parallel_for(int64_t count, int64_t grain,
                  const std::function<void(int64_t begin, int64_t end)>& work) {
  if (count <= 0) return;
  const int64_t most = (count + grain - 1) / grain;
  const int64_t ranges = std::min<int64_t>(at::get_num_threads(), most);
  if (ranges <= 1 || at::in_parallel_region()) return work(0, count);
  // A loop over one number for each range, of which only the address counts.
  at::Tensor numbers = at::empty({ranges}, at::TensorOptions().dtype(at::kByte));
  const auto* first = static_cast<const char*>(numbers.const_data_ptr());
  at::TensorIterator loop = at::TensorIterator::nullary_op(numbers);
  const bool inference = c10::InferenceMode::is_enabled();  // other threads do not inherit it
  // OpenMP's own barriers order all this already, but ThreadSanitizer cannot see into that library.
  std::atomic<int64_t> begun = 0;
  std::atomic<int64_t> ended = 0;
  begun.store(1, std::memory_order_release);
  loop.for_each(
      [&](char** data, const int64_t*, int64_t n) {
        begun.load(std::memory_order_acquire);
        const c10::InferenceMode mode(inference);
        const int64_t range = data[0] - first;
        work(count * range / ranges, count * (range + n) / ranges);
        ended.fetch_add(1, std::memory_order_release);
      },
      1);
  ended.load(std::memory_order_acquire);
}

}  // namespace remora::nn
