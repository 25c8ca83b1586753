#include "nn/pages.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <new>

namespace remora::nn {
#if defined(__linux__)

namespace {

// Below this the allocator's own memory serves: a few pages more or less do not matter.
constexpr size_t kSmallBytes = size_t{1} << 20;

}  // namespace

at::Tensor untouched_pages(const std::vector<int64_t>& shape, const at::TensorOptions& options) {
  size_t bytes = options.dtype().itemsize();
  for (const int64_t extent : shape) bytes *= static_cast<size_t>(extent);
  if (!options.device().is_cpu() || bytes < kSmallBytes) return at::empty(shape, options);
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  ::madvise(data, bytes, MADV_NOHUGEPAGE);
  return at::from_blob(
      data, shape, [bytes](void* p) { ::munmap(p, bytes); }, options);
}

#else

at::Tensor untouched_pages(const std::vector<int64_t>& shape, const at::TensorOptions& options) {
  return at::empty(shape, options);
}

#endif
}  // namespace remora::nn
