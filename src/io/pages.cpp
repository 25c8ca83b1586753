#include "io/pages.h"

#include <ATen/ops/from_blob.h>
#include <c10/core/ScalarType.h>
#include <sys/mman.h>

#include "base/concat.h"
#include "base/error.h"

namespace remora::io {

at::Tensor tensor_of_pages(int64_t elements, at::ScalarType dtype) {
  const size_t bytes = static_cast<size_t>(elements) * c10::elementSize(dtype);
  void* data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) {
    throw Error(Status::kOutOfMemory,
                concat("memory: ", bytes, " bytes for a tensor were refused"));
  }
  return at::from_blob(
      data, {elements}, [bytes](void* pages) { ::munmap(pages, bytes); },
      at::TensorOptions().dtype(dtype));
}

}  // namespace remora::io
