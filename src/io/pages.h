// Memory straight from the system, outside the allocator's heap.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace remora::io {

// To be written. A tensor that is read, converted and dropped would leave a hole in the heap, and a
// load makes hundreds: measured, 25 % of the weights stayed lost that way. Pages of its own go back
// when the tensor goes. Small ones come from the heap all the same. Throws Error{kOutOfMemory}.
at::Tensor tensor_of_pages(at::IntArrayRef shape, at::ScalarType dtype);

}  // namespace remora::io
