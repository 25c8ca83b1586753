// Convolutions on rows, in every way they are computed, against the sum written out in double.
#include "codec/row_kernel.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>

#include <cmath>

#include "peak_memory.h"
#include "support/golden.h"
#include "support/normal.h"

namespace remora::codec {
namespace {

using test::normal;

struct Layer {
  ConvShape shape;
  at::Tensor weight, bias;
  explicit Layer(const ConvShape& s)
      : shape(s),
        weight(normal({s.out, s.in, s.kernel}, 1) /
               std::sqrt(static_cast<double>(s.in * s.kernel))),
        bias(normal({s.out}, 2)) {}

  // [n / stride, out], double
  at::Tensor exact(const at::Tensor& rows) const {
    const int64_t n = (rows.size(0) - shape.carried()) / shape.stride;
    at::Tensor y = bias.to(at::kDouble).expand({n, shape.out}).clone();
    for (int64_t tap = 0; tap < shape.kernel; ++tap) {
      const int64_t first = tap * shape.dilation;
      const at::Tensor x =
          rows.to(at::kDouble).slice(0, first, first + (n - 1) * shape.stride + 1, shape.stride);
      y += at::matmul(x, weight.select(2, tap).to(at::kDouble).t());
    }
    return y;
  }
};

class RowKernels : public testing::TestWithParam<ConvShape> {};

TEST_P(RowKernels, EqualTheSumInFloat32) {
  const Layer layer(GetParam());
  const auto kernel = make_row_kernel(layer.weight, layer.bias, layer.shape);
  for (const int64_t n : {layer.shape.stride, 24 * layer.shape.stride, 700 * layer.shape.stride}) {
    const at::Tensor rows = normal({layer.shape.carried() + n, layer.shape.in}, 3);
    // Sums near 1 of a few hundred products, of thousands in the wide layers: rounding errors add
    // up with the root of the number.
    const double tolerance = layer.shape.in * layer.shape.kernel > 1000 ? 2e-5 : 5e-6;
    EXPECT_TRUE(test::close(kernel->apply(rows), layer.exact(rows), tolerance)) << n;
  }
}

TEST_P(RowKernels, AgreeInBfloat16) {
  const Layer layer(GetParam());
  const at::Tensor rows =
      normal({layer.shape.carried() + 700 * layer.shape.stride, layer.shape.in}, 3);
  const at::Tensor exact = layer.exact(rows).to(at::kFloat);
  for (const bool tiles : {false, true}) {
    const auto kernel = make_row_kernel(layer.weight.to(at::kBFloat16),
                                        layer.bias.to(at::kBFloat16), layer.shape, at::kCPU, tiles);
    EXPECT_TRUE(agrees(kernel->apply(rows.to(at::kBFloat16)), exact)) << tiles;
    const at::Tensor wide = kernel->apply_wide(rows.to(at::kBFloat16));
    EXPECT_EQ(wide.scalar_type(), at::kFloat);
    EXPECT_TRUE(agrees(wide, exact)) << tiles;
    kernel->add_to(rows.to(at::kBFloat16), wide);
    EXPECT_TRUE(agrees(wide, 2 * exact)) << tiles;
  }
}

TEST_P(RowKernels, CountAsMuchOfAWeightWithoutNumbers) {
  const Layer layer(GetParam());
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    const at::Tensor weight = layer.weight.to(type), bias = layer.bias.to(type);
    const auto blank = [&](const at::Tensor& tensor) { return tensor.to(at::kMeta); };
    const auto bytes_on = [&](at::Device device) {
      return make_row_kernel(blank(weight), blank(bias), layer.shape, device)->bytes();
    };
    EXPECT_EQ(bytes_on(at::kCPU), make_row_kernel(weight, bias, layer.shape)->bytes());
    // Only a processor has the filter that keeps summed taps.
    EXPECT_EQ(bytes_on(at::kCUDA), weight.nbytes() + bias.nbytes());
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, RowKernels,
    testing::Values(ConvShape{.in = 1, .out = 24, .kernel = 7},  // first of the encoder
                    ConvShape{.in = 24, .out = 1, .kernel = 7},  // last of the decoder
                    ConvShape{.in = 24, .out = 3, .kernel = 7, .dilation = 3},
                    ConvShape{.in = 16, .out = 16, .kernel = 7, .dilation = 9},
                    ConvShape{.in = 24, .out = 24, .kernel = 7, .dilation = 3},
                    ConvShape{.in = 40, .out = 56, .kernel = 7},
                    ConvShape{.in = 5, .out = 5, .kernel = 7},
                    // Wide enough for the fast filter.
                    ConvShape{.in = 64, .out = 64, .kernel = 7},
                    ConvShape{.in = 96, .out = 64, .kernel = 7, .dilation = 3},
                    ConvShape{.in = 64, .out = 96, .kernel = 7, .dilation = 9},
                    ConvShape{.in = 64, .out = 64, .kernel = 4, .dilation = 2},
                    ConvShape{.in = 64, .out = 64, .kernel = 5},
                    // So wide that a product for each tap is best.
                    ConvShape{.in = 520, .out = 512, .kernel = 7, .dilation = 9},
                    ConvShape{.in = 512, .out = 520, .kernel = 3},
                    ConvShape{.in = 32, .out = 32},  // 1x1
                    ConvShape{.in = 16, .out = 32, .kernel = 16, .stride = 8},
                    ConvShape{.in = 24, .out = 48, .kernel = 8, .stride = 4},
                    ConvShape{.in = 8, .out = 8, .kernel = 2, .stride = 2}));

TEST(RowKernel, CountsTheMemoryItHolds) {
  const auto bytes = [](const ConvShape& shape, at::ScalarType type) {
    const Layer layer(shape);
    return make_row_kernel(layer.weight.to(type), layer.bias.to(type), shape)->bytes();
  };
  // Weight and bias once, however they are arranged.
  EXPECT_EQ(bytes({.in = 24, .out = 1, .kernel = 7}, at::kFloat), (24 * 7 + 1) * 4U);
  EXPECT_EQ(bytes({.in = 24, .out = 24, .kernel = 7}, at::kFloat), (24 * 24 * 7 + 24) * 4U);
  EXPECT_EQ(bytes({.in = 40, .out = 56, .kernel = 7}, at::kBFloat16), (40 * 56 * 7 + 56) * 2U);
  // The fast filter besides: seven taps become 4 + 3 and 4 summed ones, these (2 + 2 + 2), then
  // (2 + 1 + 2) and (2 + 2 + 2).
  EXPECT_EQ(bytes({.in = 64, .out = 64, .kernel = 7}, at::kFloat),
            (64 * 64 * (7 + 6 + 5 + 6) + 64) * 4U);
}

// A stock convolution would reorder its weights in every call: 7 MB here, 17 MB in the released
// decoder, more than all else that a stream works with.
TEST(RowKernel, AWideLayerNeedsNoMoreThanItsResult) {
  const Layer layer({.in = 520, .out = 512, .kernel = 7});
  const auto kernel = make_row_kernel(layer.weight, layer.bias, layer.shape);
  const at::Tensor rows = normal({layer.shape.carried() + 300, layer.shape.in}, 3);
  const test::PeakMemory peak;
  const at::Tensor y = kernel->apply(rows);
  EXPECT_LE(peak.bytes(), 2 * static_cast<int64_t>(y.nbytes()));
}

TEST(RowKernel, GarbageDoesNotAgree) {
  const at::Tensor expected = normal({300, 24}, 1);
  EXPECT_TRUE(agrees(expected.to(at::kBFloat16), expected));
  EXPECT_FALSE(agrees(normal({300, 24}, 2), expected));
  EXPECT_FALSE(agrees(at::zeros({300, 24}), expected));
  EXPECT_FALSE(agrees(expected / 0.0, expected));
}

}  // namespace
}  // namespace remora::codec
