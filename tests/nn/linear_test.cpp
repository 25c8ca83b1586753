// Matrices as layers: what they are applied with, in every type and form, against double precision.
#include "nn/linear.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "nn/cpu/pack.h"
#include "support/normal.h"

namespace remora::nn {
namespace {

using test::normal;

struct Case {
  WeightFormat format;
  int64_t out, in;
};

// The numbers that a quantised matrix really holds, [out, in] in double.
at::Tensor held(const Linear& linear) {
  const cpu::MatrixView& view = linear.view();
  const at::Tensor rows = at::empty({view.padded_rows(), view.cols}, at::kFloat);
  for (int64_t block = 0; block < view.padded_rows() / cpu::kBlockRows; ++block) {
    cpu::unpack_block(view, block,
                      rows.mutable_data_ptr<float>() + block * cpu::kBlockRows * view.cols);
  }
  return rows.narrow(0, 0, view.rows).to(at::kDouble);
}

class QuantisedLinears : public testing::TestWithParam<Case> {
 protected:
  Linear linear(bool biased) const {
    const Case& c = GetParam();
    const at::Tensor weight = normal({c.out, c.in}, 1) / std::sqrt(static_cast<double>(c.in));
    return Linear::quantised(weight, c.format, biased ? normal({c.out}, 2) : at::Tensor());
  }
};

TEST_P(QuantisedLinears, MultiplyAsWhatTheyHoldInBothTypes) {
  for (const bool biased : {false, true}) {
    for (const int64_t n : {1, 5, 40, 70}) {
      const at::Tensor x = normal({n, GetParam().in}, 3).to(at::kBFloat16);
      const Linear exact = linear(biased);
      at::Tensor expected = at::matmul(x.to(at::kDouble), held(exact).t());
      if (biased) expected += exact.bias().to(at::kDouble);
      const at::Tensor wide = exact(x.to(at::kFloat));
      EXPECT_EQ(wide.scalar_type(), at::kFloat);
      EXPECT_LT((wide - expected).abs().max().item<double>(), 5e-6) << n;
      // In bfloat16, the bias of that type: half a step of 8 bits of each weight and of the sum.
      const at::Tensor bias = biased ? exact.bias().to(at::kBFloat16) : at::Tensor();
      const WeightFormat format = GetParam().format;
      const Linear narrow =
          Linear::from_packed(format, GetParam().out, GetParam().in, exact.packed(), bias);
      const at::Tensor y = narrow(x);
      EXPECT_EQ(y.scalar_type(), at::kBFloat16);
      EXPECT_EQ(y.size(0), n);
      EXPECT_LT((y.to(at::kDouble) - expected).abs().max().item<double>(), 0.03) << n;
    }
  }
}

TEST_P(QuantisedLinears, ARowOfScalesThatAreNoneIsNoneAndNoOther) {
  const Linear exact = linear(false);
  const PackedMatrix packed = exact.packed();
  const at::Tensor scales = packed.scales.clone();
  // The scales of row 3: one, or one for each group of columns.
  scales.select(0, 0).select(-1, 3).fill_(std::numeric_limits<double>::quiet_NaN());
  const Linear damaged =
      Linear::from_packed(GetParam().format, GetParam().out, GetParam().in, {packed.data, scales});
  const at::Tensor y = damaged(normal({20, GetParam().in}, 3).to(at::kBFloat16));
  EXPECT_TRUE(y.select(1, 3).isnan().all().item<bool>());
  EXPECT_EQ(y.isnan().sum().item<int64_t>(), 20);
}

// 33 x 70 fills neither blocks nor groups, the others do, which decides the way of the product.
INSTANTIATE_TEST_SUITE_P(Shapes, QuantisedLinears,
                         testing::Values(Case{{cpu::MatrixKind::kInt8, 0}, 33, 70},
                                         Case{{cpu::MatrixKind::kInt8, 0}, 48, 128},
                                         Case{{cpu::MatrixKind::kInt8, 0}, 320, 512},
                                         Case{{cpu::MatrixKind::kInt4, 32}, 33, 70},
                                         Case{{cpu::MatrixKind::kInt4, 32}, 48, 128},
                                         Case{{cpu::MatrixKind::kInt4, 64}, 33, 70},
                                         Case{{cpu::MatrixKind::kInt4, 64}, 320, 512}));

}  // namespace
}  // namespace remora::nn
