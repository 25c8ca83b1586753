// Whole-clip decoding against the reference waveforms.
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>

#include "base/error.h"
#include "codec_files.h"
#include "support/golden.h"

namespace remora::codec {
namespace {

using test::close;
using test::golden_codec;

// Float32 sums in another order: the reference differs from float64 by up to 7e-6 itself. Looser
// bounds would let a wrong epsilon pass (5e-5).
constexpr double kTolerance = 2e-5;

class DecodeCase : public testing::TestWithParam<std::string> {};

TEST_P(DecodeCase, EqualsTheReference) {
  const test::Golden decode("codec/decode.safetensors");
  const at::Tensor codes = decode["codes." + GetParam()];  // [items, rows, frames]
  const at::Tensor wave = decode["wav." + GetParam()];     // [items, 1, samples]
  for (int64_t item = 0; item < codes.size(0); ++item) {
    EXPECT_TRUE(close(golden_codec()->decode(codes[item]), wave[item][0], kTolerance)) << item;
  }
}

INSTANTIATE_TEST_SUITE_P(Decode, DecodeCase,
                         testing::Values("f1", "f2", "f17", "f100", "batch2_f3"),
                         [](const auto& param) { return param.param; });

TEST(Decode, ClampsIndicesPastATableAndLeavesTheCallersCodes) {
  const test::Golden decode("codec/decode.safetensors");
  const at::Tensor codes = decode["codes.clamp_f4"][0].clone();
  const at::Tensor before = codes.clone();
  EXPECT_TRUE(close(golden_codec()->decode(codes), decode["wav.clamp_f4"][0][0], kTolerance));
  EXPECT_TRUE(close(codes, before, 0));
  EXPECT_FALSE(close(codes, decode["codes_after.clamp_f4"][0], 0));  // the case does clamp
}

TEST(Decode, TakesBothIntegerTypesAndAnyStrides) {
  const at::Tensor codes = test::Golden("codec/decode.safetensors")["codes.f2"][0];
  const at::Tensor wave = golden_codec()->decode(codes);
  EXPECT_TRUE(close(golden_codec()->decode(codes.to(at::kLong)), wave, 0));
  EXPECT_TRUE(close(golden_codec()->decode(codes.t().contiguous().t()), wave, 0));
}

TEST(Decode, NoFramesMakeNoSound) {
  const at::Tensor codes = at::empty({10, 0}, at::TensorOptions().dtype(at::kInt));
  EXPECT_EQ(golden_codec()->decode(codes).numel(), 0);
}

TEST(Decode, FewerRowsLeaveResidualCodebooksOut) {
  const at::Tensor codes = test::Golden("codec/decode.safetensors")["codes.f2"][0];
  const at::Tensor all = golden_codec()->decode(codes);
  const at::Tensor some = golden_codec()->decode(codes.narrow(0, 0, 4));
  EXPECT_EQ(some.sizes(), all.sizes());
  EXPECT_FALSE(close(some, all, 1e-2));
}

std::string message_of(const at::Tensor& codes) {
  try {
    golden_codec()->decode(codes);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kInvalidArgument);
    return error.text();
  }
  return "no error";
}

TEST(Decode, BadCodesAreErrorsThatSayWhere) {
  const auto options = at::TensorOptions().dtype(at::kInt);
  at::Tensor negative = at::zeros({10, 3}, options);
  negative[4][2] = -1;
  EXPECT_EQ(message_of(negative),
            "codec decode: code -1 at row 4, frame 2 is negative; codes count from 0");
  EXPECT_EQ(message_of(at::zeros({11, 3}, options)),
            "codec decode: codes are [11,3], expected [2 to 10 rows, frames]");
  EXPECT_EQ(message_of(at::zeros({1, 3}, options)),
            "codec decode: codes are [1,3], expected [2 to 10 rows, frames]");
  EXPECT_EQ(message_of(at::zeros({1, 10, 3}, options)),
            "codec decode: codes are [1,10,3], expected [2 to 10 rows, frames]");
  EXPECT_EQ(message_of(at::zeros({10, 3}, at::TensorOptions().dtype(at::kFloat))),
            "codec decode: codes are not int32 or int64; pass whole numbers");
}

TEST(Decode, StopsWhenCancelled) {
  CancelFlag cancel;
  cancel.raise();
  const at::Tensor codes = test::Golden("codec/decode.safetensors")["codes.f2"][0];
  try {
    golden_codec()->decode(codes, &cancel);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kCancelled);
  }
}

}  // namespace
}  // namespace remora::codec
