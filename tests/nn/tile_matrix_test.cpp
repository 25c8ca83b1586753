// Products in tiles against double precision. They run where the processor has a tile unit.
#include "nn/tile_matrix.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/normal.h"

namespace remora::nn {
namespace {

using test::normal;

struct Case {
  int64_t out, in, taps, dilation;
};
const Case kCases[] = {{16, 32, 1, 1},   {48, 96, 7, 3}, {96, 96, 7, 9},
                       {32, 1024, 1, 1}, {80, 64, 2, 1}, {192, 192, 7, 1}};

class TileMatrices : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (cpu::tile_kernels() == nullptr) GTEST_SKIP() << "no tile unit here";
  }
  at::Tensor weight() const {
    const Case& c = GetParam();
    return (normal({c.out, c.in, c.taps}, 1) / std::sqrt(static_cast<double>(c.in * c.taps)))
        .to(at::kBFloat16);
  }
  at::Tensor rows(int64_t n) const {
    const Case& c = GetParam();
    return normal({n + (c.taps - 1) * c.dilation, c.in}, 3).to(at::kBFloat16);
  }
  // [n, out], double
  at::Tensor exact(const at::Tensor& x, const at::Tensor& bias) const {
    const Case& c = GetParam();
    const int64_t n = x.size(0) - (c.taps - 1) * c.dilation;
    at::Tensor y = bias.to(at::kDouble).expand({n, c.out}).clone();
    for (int64_t tap = 0; tap < c.taps; ++tap) {
      y += at::matmul(x.narrow(0, tap * c.dilation, n).to(at::kDouble),
                      weight().select(2, tap).to(at::kDouble).t());
    }
    return y;
  }
};

double largest(const at::Tensor& difference) { return difference.abs().max().item<double>(); }

TEST_P(TileMatrices, EqualTheSumInDoublePrecisionForEveryNumberOfRows) {
  const at::Tensor bias = normal({GetParam().out}, 2);
  const TileMatrix matrix(weight(), bias, GetParam().dilation);
  for (const int64_t n : {1, 15, 16, 17, 31, 32, 33, 63, 250, 600}) {
    const at::Tensor x = rows(n);
    const at::Tensor expected = exact(x, bias);
    // Exact products, sums near 1 in float32.
    const at::Tensor wide = matrix.apply_wide(x);
    EXPECT_EQ(wide.scalar_type(), at::kFloat);
    EXPECT_LT(largest(wide - expected), 3e-6) << n;
    // Half a step of 8 bits of numbers up to 8.
    EXPECT_LT(largest(matrix.apply(x).to(at::kDouble) - expected), 0.016) << n;
    at::Tensor sum = normal({n, GetParam().out}, 4);
    const at::Tensor before = sum.clone();
    matrix.add_to(x, sum);
    EXPECT_LT(largest(sum - (expected + before)), 4e-6) << n;
  }
}

TEST_P(TileMatrices, ARowIsTheSameWhateverIsBesideIt) {
  const TileMatrix matrix(weight(), {}, GetParam().dilation);
  const at::Tensor x = rows(77);
  const at::Tensor all = matrix.apply_wide(x);
  const int64_t carried = (GetParam().taps - 1) * GetParam().dilation;
  for (const int64_t row : {0, 40, 76}) {
    EXPECT_EQ(largest(matrix.apply_wide(x.narrow(0, row, carried + 1)) - all.narrow(0, row, 1)), 0);
  }
}

TEST_P(TileMatrices, CountAsMuchOfAWeightWithoutNumbers) {
  const at::Tensor bias = normal({GetParam().out}, 2);
  EXPECT_EQ(TileMatrix(weight().to(at::kMeta), bias.to(at::kMeta)).bytes(),
            TileMatrix(weight(), bias).bytes());
}

INSTANTIATE_TEST_SUITE_P(Shapes, TileMatrices, testing::ValuesIn(kCases));

TEST(TileMatrix, FitsOnlyWholeTilesOfBfloat16InHostMemory) {
  const bool here = cpu::tile_kernels() != nullptr;
  EXPECT_EQ(TileMatrix::fits(at::kCPU, at::kBFloat16, 16, 32), here);
  EXPECT_FALSE(TileMatrix::fits(at::kCPU, at::kBFloat16, 8, 32));
  EXPECT_FALSE(TileMatrix::fits(at::kCPU, at::kBFloat16, 16, 48));
  EXPECT_FALSE(TileMatrix::fits(at::kCPU, at::kFloat, 16, 32));
  EXPECT_FALSE(TileMatrix::fits(at::kCUDA, at::kBFloat16, 16, 32));
}

// LibTorch's own products configure the unit, too.
TEST(TileMatrix, StaysOutOfTheWayOfLibTorchsProducts) {
  if (cpu::tile_kernels() == nullptr) GTEST_SKIP() << "no tile unit here";
  const at::Tensor a = normal({70, 256}, 5).to(at::kBFloat16);
  const at::Tensor b = normal({256, 128}, 6).to(at::kBFloat16);
  const at::Tensor before = at::matmul(a, b);
  const TileMatrix matrix(normal({48, 96, 1}, 1).to(at::kBFloat16), {});
  const at::Tensor x = normal({37, 96}, 7).to(at::kBFloat16);
  const at::Tensor own = matrix.apply(x);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(largest((at::matmul(a, b) - before).to(at::kFloat)), 0);
    EXPECT_EQ(largest((matrix.apply(x) - own).to(at::kFloat)), 0);
  }
}

}  // namespace
}  // namespace remora::nn
