// The 16-bit types against float32.
#include <ATen/TensorOperators.h>

#include <cmath>

#include "codec/decode_stream.h"
#include "codec_files.h"
#include "support/golden.h"

namespace remora::codec {
namespace {

std::shared_ptr<const Codec> codec_in(at::ScalarType dtype) {
  return std::make_shared<const Codec>(test::golden_tensors(), test::golden_codec()->config(),
                                       CodecOptions{.dtype = dtype});
}

// dB of the reference over the difference.
double signal_to_noise(const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor noise = actual - expected;
  return 10.0 * std::log10((expected * expected).sum().item<double>() /
                           (noise * noise).sum().item<double>());
}

double share_equal(const at::Tensor& codes, const at::Tensor& expected) {
  return codes.eq(expected).to(at::kFloat).mean().item<double>();
}

TEST(Precision, RB_59_Bfloat16DecodesAsWellAsTheReferenceDoesInIt) {
  const test::Golden decode("codec/decode.safetensors");
  const auto known =
      test::load_json("codec/index.json")["low_precision_snr_db_vs_float32_case_f100"];
  const at::Tensor wave = codec_in(at::kBFloat16)->decode(decode["codes.f100"][0]);
  EXPECT_EQ(wave.scalar_type(), at::kFloat);
  EXPECT_GT(signal_to_noise(wave, decode["wav.f100"][0][0]),
            known["cpu_autocast_bf16_fp32_weights"].get<double>());
}

TEST(Precision, RB_59_Float16DecodesWithItsThreeMoreBits) {
  const test::Golden decode("codec/decode.safetensors");
  const at::Tensor wave = codec_in(at::kHalf)->decode(decode["codes.f17"][0]);
  // Three more bits of mantissa are 18 dB; 30 dB were measured in bfloat16.
  EXPECT_GT(signal_to_noise(wave, decode["wav.f17"][0][0]), 42.0);
}

TEST(Precision, StreamsInBfloat16FollowTheWhole) {
  const at::Tensor codes = test::Golden("codec/decode.safetensors")["codes.f17"][0];
  const auto codec = codec_in(at::kBFloat16);
  const at::Tensor whole = codec->decode(codes);
  DecodeStream stream(codec);
  const at::Tensor head = stream.push(codes.narrow(1, 0, 5));
  const at::Tensor rest = stream.push(codes.narrow(1, 5, 12));
  // Other orders of summation round differently, which bfloat16 carries on: noise of its own size.
  EXPECT_GT(signal_to_noise(head, whole.slice(0, 0, head.numel())), 27.0);
  EXPECT_GT(signal_to_noise(rest, whole.slice(0, head.numel())), 27.0);
}

TEST(Precision, CodesSurviveSixteenBits) {
  const test::Golden encode("codec/encode.safetensors");
  const at::Tensor audio = encode["audio.speech"].to(at::kFloat) / 32768.0;
  const at::Tensor expected = encode["codes.speech"][0];
  // Each residual codebook quantises what rounding left too, so later rows differ more often.
  // Measured: 1.0 in float16, 0.92 in bfloat16, where chance would be 0.001.
  EXPECT_GT(share_equal(codec_in(at::kHalf)->encode(audio), expected), 0.97);
  EXPECT_GT(share_equal(codec_in(at::kBFloat16)->encode(audio), expected), 0.8);
}

}  // namespace
}  // namespace remora::codec
