// The snake kernel against the formula in double precision.
#include "codec/snake_kernel.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/zeros.h>

#include <cmath>
#include <limits>

#include "support/golden.h"
#include "support/normal.h"

namespace remora::codec {
namespace {

using test::close;
using test::normal;

// Not a multiple of any vector's length.
constexpr int64_t kRows = 37;
constexpr int64_t kChannels = 101;

struct Channels {
  at::Tensor alpha = normal({kChannels}, 2);  // of either sign
  at::Tensor inverse;
  Channels() {
    alpha[3] = 0.0;
    inverse = at::reciprocal(alpha + 1e-9);
  }
  at::Tensor exact(const at::Tensor& x) const {
    const at::Tensor sine = at::sin(x.to(at::kDouble) * alpha.to(at::kDouble));
    return x.to(at::kDouble) + inverse.to(at::kDouble) * sine * sine;
  }
};

TEST(Snake, EqualsTheFormula) {
  const Channels channels;
  const at::Tensor x = normal({kRows, kChannels}, 1) * 20.0;
  at::Tensor out = at::empty_like(x);
  snake_rows(x, channels.alpha, channels.inverse, out);
  // The angle and the result are rounded to float32 and 1 / alpha reaches 50 here.
  const at::Tensor error =
      (out.to(at::kDouble) - channels.exact(x)) / channels.inverse.abs().clamp_min(1.0);
  EXPECT_LT(error.abs().max().item<double>(), 5e-6);
}

TEST(Snake, IsExactAroundZero) {
  const Channels channels;
  const at::Tensor x = normal({kRows, kChannels}, 1) * 1e-3;
  at::Tensor out = at::empty_like(x);
  snake_rows(x, channels.alpha, channels.inverse, out);
  EXPECT_TRUE(close(out, channels.exact(x), 1e-9));
  snake_rows(at::zeros({kRows, kChannels}), channels.alpha, channels.inverse, out);
  EXPECT_TRUE(close(out, at::zeros({kRows, kChannels}), 0));
}

TEST(Snake, MayWriteOverItsInput) {
  const Channels channels;
  const at::Tensor x = normal({kRows, kChannels}, 1);
  at::Tensor apart = at::empty_like(x);
  snake_rows(x, channels.alpha, channels.inverse, apart);
  snake_rows(x, channels.alpha, channels.inverse, x);
  EXPECT_TRUE(close(x, apart, 0));
}

TEST(Snake, RoundsOnceToTheSixteenBitTypes) {
  const Channels channels;
  for (const auto dtype : {at::kBFloat16, at::kHalf}) {
    const at::Tensor x = normal({kRows, kChannels}, 1).to(dtype);
    at::Tensor wide = at::empty_like(x, at::TensorOptions().dtype(at::kFloat));
    at::Tensor narrow = at::empty_like(x);
    snake_rows(x, channels.alpha, channels.inverse, wide);
    snake_rows(x, channels.alpha, channels.inverse, narrow);
    EXPECT_TRUE(close(narrow, wide.to(dtype), 0)) << dtype;
    at::Tensor from_wide = at::empty_like(x);
    snake_rows(x.to(at::kFloat), channels.alpha, channels.inverse, from_wide);
    EXPECT_TRUE(close(from_wide, narrow, 0)) << dtype;
  }
}

TEST(Snake, StaysBoundedFarOutAndKeepsNaN) {
  const Channels channels;
  at::Tensor x = at::zeros({1, kChannels});
  x.fill_(1e30);
  at::Tensor out = at::empty_like(x);
  snake_rows(x, channels.alpha, channels.inverse, out);
  EXPECT_TRUE(close(out / 1e30, x / 1e30, 1e-6));
  x.fill_(std::numeric_limits<double>::quiet_NaN());
  at::Tensor narrow = at::empty_like(x, at::TensorOptions().dtype(at::kBFloat16));
  snake_rows(x, channels.alpha, channels.inverse, narrow);
  EXPECT_TRUE(std::isnan(narrow[0][5].item<float>()));
}

}  // namespace
}  // namespace remora::codec
