// Ways to compute a convolution on rows.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

namespace remora::codec {

// y[t] = bias + sum over taps j of W_j rows[t * stride + j * dilation].
struct ConvShape {
  int64_t in = 1;
  int64_t out = 1;
  int64_t kernel = 1;
  int64_t dilation = 1;
  int64_t stride = 1;
  bool wide = false;  // float32 whatever the compute type: at the waveform's ends
  // Rows that the first output needs before its own step.
  int64_t carried() const { return (kernel - 1) * dilation + 1 - stride; }
};

// Immutable; safe from several threads.
class RowKernel {
 public:
  virtual ~RowKernel() = default;
  // rows: [carried + n, in], contiguous, of the weight's type, n a multiple of the stride.
  // Returns [n / stride, out], contiguous.
  virtual at::Tensor apply(const at::Tensor& rows) const = 0;
  // The same in float32, with what the kernel sums up in it where it does.
  virtual at::Tensor apply_wide(const at::Tensor& rows) const { return apply(rows).to(at::kFloat); }
  // Adds the result to y, [n / stride, out] float32, contiguous.
  virtual void add_to(const at::Tensor& rows, const at::Tensor& y) const;
  // Outputs that are best computed together: long inputs are cut at multiples of it.
  virtual int64_t granule() const { return 1; }
  // Memory of the tensors it holds.
  virtual uint64_t bytes() const = 0;
};

// The fastest kernel that is right for this shape. weight: [out, in, kernel]; bias: [out]; both of
// the compute type, on the device. `tiles`: in the processor's tile unit where it has one. In a
// 16-bit type on a processor, a stock convolution is tried against a matrix product first, and not
// used where they differ: some releases of the library behind it compute garbage for some shapes.
// Of a weight on the meta device comes the kernel that `device` would get, of which only bytes()
// may be asked.
std::unique_ptr<const RowKernel> make_row_kernel(const at::Tensor& weight, const at::Tensor& bias,
                                                 const ConvShape& shape,
                                                 at::Device device = at::kCPU, bool tiles = true);

// The kernel that multiplies a matrix, whatever the shape.
std::unique_ptr<const RowKernel> make_product_kernel(const at::Tensor& weight,
                                                     const at::Tensor& bias, const ConvShape& shape,
                                                     at::Device device = at::kCPU,
                                                     bool tiles = true);

// Whether two results agree as far as a 16-bit type can: rounding moves single numbers by less
// than a hundredth of the largest, a wrong result shares next to nothing.
bool agrees(const at::Tensor& actual, const at::Tensor& expected);

}  // namespace remora::codec
