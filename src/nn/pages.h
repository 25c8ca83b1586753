// Memory that costs nothing until it is written.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace remora::nn {

// An uninitialised tensor. On a CPU its pages become resident one by one as they are written
// (never in large pages, which would bring in far more than was written); the memory goes back to
// the system when the last reference goes.
at::Tensor untouched_pages(const std::vector<int64_t>& shape, const at::TensorOptions& options);

}  // namespace remora::nn
