#include "nn/pages.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include <memory>
#include <new>

namespace remora::nn {
#if defined(__linux__)

namespace {

// Below this the allocator's own memory serves: a few pages more or less do not matter.
constexpr size_t kSmallBytes = size_t{1} << 20;

class Pages {
 public:
  explicit Pages(size_t bytes)
      : data_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
        bytes_(bytes) {
    if (data_ == MAP_FAILED) throw std::bad_alloc();
    ::madvise(data_, bytes, MADV_NOHUGEPAGE);
  }
  ~Pages() { ::munmap(data_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  void* data() const { return data_; }

 private:
  void* data_;
  size_t bytes_;
};

}  // namespace

at::Tensor untouched_pages(const std::vector<int64_t>& shape, const at::TensorOptions& options) {
  size_t bytes = options.dtype().itemsize();
  for (const int64_t extent : shape) bytes *= static_cast<size_t>(extent);
  if (!options.device().is_cpu() || bytes < kSmallBytes) return at::empty(shape, options);
  auto pages = std::make_unique<Pages>(bytes);
  void* data = pages->data();
  // By LibTorch's context and not by its std::function: with no memory for the latter it ends the
  // process.
  return at::for_blob(data, shape)
      .context(pages.release(),
               [](void* kept) { std::unique_ptr<Pages>(static_cast<Pages*>(kept)); })
      .options(options)
      .make_tensor();
}

#else

at::Tensor untouched_pages(const std::vector<int64_t>& shape, const at::TensorOptions& options) {
  return at::empty(shape, options);
}

#endif
}  // namespace remora::nn
