// A tensor over memory that something else keeps.
#pragma once

#include <ATen/ops/from_blob.h>

#include <memory>

namespace remora::io {

// `keeper` goes with the tensor, and also when the tensor cannot be made. `strides` empty: the rows
// follow one another. By LibTorch's context and not by its std::function: with no memory for the
// latter it ends the process.
template <typename Keeper>
at::Tensor kept_tensor(void* data, at::IntArrayRef shape, at::IntArrayRef strides,
                       at::ScalarType dtype, std::unique_ptr<Keeper> keeper) {
  at::TensorMaker maker = at::for_blob(data, shape);
  if (!strides.empty()) maker.strides(strides);
  return maker
      .context(keeper.release(),
               [](void* kept) { std::unique_ptr<Keeper>(static_cast<Keeper*>(kept)); })
      .options(at::TensorOptions().dtype(dtype))
      .make_tensor();
}

}  // namespace remora::io
