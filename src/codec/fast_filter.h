// A convolution along time with fewer multiplications than its definition.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "codec/row_kernel.h"

namespace remora::codec {

// Splits time into even and odd steps. With even and odd taps He, Ho and inputs E, O (and E+, the
// even inputs one step later):
//   even outputs = (He + Ho) * O + He * (E  - O)
//   odd outputs  = (He + Ho) * O + Ho * (E+ - O)
// Three filters of half the length at half the rate instead of four; done twice, a kernel of 7
// costs 17/28 of its multiplications. The sums of taps are made once, in double precision; errors
// are no larger than those of a stock convolution, which adds more numbers up. A dilated kernel is
// the same on blocks of `dilation` rows.
class FastFilter final : public RowKernel {
 public:
  // weight: [out, in, kernel] float32 in host memory, kernel >= 4, stride 1; bias: [out].
  FastFilter(const at::Tensor& weight, const at::Tensor& bias, const ConvShape& shape);
  ~FastFilter() override;

  at::Tensor apply(const at::Tensor& rows) const override;
  int64_t granule() const override;
  uint64_t bytes() const override;

  // Whether it is worth its sums there, for this type and shape.
  static bool fits(at::Device device, at::ScalarType type, const ConvShape& shape);

 private:
  class Node;
  ConvShape shape_;
  at::Tensor bias_;                          // [out]
  std::unique_ptr<const RowKernel> direct_;  // for rows that do not fill a block, and few rows
  std::unique_ptr<const Node> root_;
};

}  // namespace remora::codec
