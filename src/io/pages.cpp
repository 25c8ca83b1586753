#include "io/pages.h"

#include <ATen/ops/empty.h>
#include <c10/core/ScalarType.h>
#include <c10/util/accumulate.h>
#include <sys/mman.h>

#include <memory>

#include "base/concat.h"
#include "base/error.h"
#include "io/kept_tensor.h"

namespace remora::io {
namespace {

class Pages {
 public:
  explicit Pages(size_t bytes)
      : data_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)),
        bytes_(bytes) {
    if (data_ != MAP_FAILED) {
      advise();
      return;
    }
    throw Error(Status::kOutOfMemory,
                concat("memory: ", bytes, " bytes for a tensor were refused"));
  }
  ~Pages() { ::munmap(data_, bytes_); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  void* data() const { return data_; }

 private:
  // Written from end to end: where the system has large pages, few appear in place of many.
  void advise() const {
#ifdef MADV_HUGEPAGE
    ::madvise(data_, bytes_, MADV_HUGEPAGE);
#endif
  }

  void* data_;
  size_t bytes_;
};

}  // namespace

at::Tensor tensor_of_pages(at::IntArrayRef shape, at::ScalarType dtype) {
  constexpr size_t kSmall = 1 << 16;
  const size_t bytes = static_cast<size_t>(c10::multiply_integers(shape)) * c10::elementSize(dtype);
  if (bytes < kSmall) return at::empty(shape, at::TensorOptions().dtype(dtype));
  auto pages = std::make_unique<Pages>(bytes);
  void* data = pages->data();
  return kept_tensor(data, shape, {}, dtype, std::move(pages));
}

}  // namespace remora::io
