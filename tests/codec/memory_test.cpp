// What a codec holds while it works: not more for a longer clip. In tensor bytes, counted where
// LibTorch hands them out; docs/codec.md has the figures of a whole process at the released sizes.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <gtest/gtest.h>

#include "codec/decode_stream.h"
#include "codec/encode_stream.h"
#include "peak_memory.h"
#include "random_codec.h"

namespace remora::codec {
namespace {

using test::PeakMemory;

std::shared_ptr<const Codec> small_codec() {
  static const auto codec = std::make_shared<const Codec>(
      test::random_codec(test::small_config(), 1), test::small_config(), CodecOptions{});
  return codec;
}

at::Tensor codes_of(int64_t frames) {
  const CodecConfig config = test::small_config();
  return at::randint(0, config.residual_entries, {config.n_codebooks(), frames},
                     at::make_generator<at::CPUGeneratorImpl>(3),
                     at::TensorOptions().dtype(at::kInt));
}

at::Tensor sound_of(int64_t frames) {
  return at::rand({frames * test::small_config().frame_length()},
                  at::make_generator<at::CPUGeneratorImpl>(4),
                  at::TensorOptions().dtype(at::kFloat));
}

// Pieces behind which every window is full.
constexpr int kSettled = 10;
constexpr int kMany = 100;

TEST(CodecMemory, ADecodeStreamHoldsTheSameHoweverLongItRuns) {
  const at::Tensor piece = codes_of(kPieceFrames);
  const auto codec = small_codec();
  const PeakMemory peak;
  DecodeStream stream(codec);
  for (int i = 0; i < kSettled; ++i) stream.push(piece);
  const int64_t settled = peak.bytes();
  EXPECT_GT(settled, static_cast<int64_t>(stream.state_bytes()));
  for (int i = 0; i < kMany; ++i) stream.push(piece);
  EXPECT_EQ(peak.bytes(), settled);
}

TEST(CodecMemory, AnEncodeStreamHoldsTheSameHoweverLongItRuns) {
  const at::Tensor piece = sound_of(kEncodePieceFrames);
  const auto codec = small_codec();
  const PeakMemory peak;
  EncodeStream stream(codec);
  for (int i = 0; i < kSettled; ++i) stream.push(piece);
  const int64_t settled = peak.bytes();
  EXPECT_GT(settled, static_cast<int64_t>(stream.state_bytes()));
  for (int i = 0; i < kMany; ++i) stream.push(piece);
  EXPECT_EQ(peak.bytes(), settled);
}

// Beyond what every clip needs, each further frame costs its samples and its codes.
TEST(CodecMemory, AWholeClipNeedsItsSamplesMore) {
  const auto peak_of = [](int64_t frames) {
    const at::Tensor codes = codes_of(frames);
    const auto codec = small_codec();
    const PeakMemory peak;
    codec->decode(codes);
    return peak.bytes();
  };
  const CodecConfig config = test::small_config();
  const int64_t more = (kMany - kSettled) * kPieceFrames;
  const auto samples = more * config.frame_length() * static_cast<int64_t>(sizeof(float));
  const auto codes = more * config.n_codebooks() * static_cast<int64_t>(sizeof(int64_t));
  const int64_t growth = peak_of(kMany * kPieceFrames) - peak_of(kSettled * kPieceFrames);
  EXPECT_GE(growth, samples);
  EXPECT_LE(growth, samples + codes);
}

TEST(CodecMemory, EncodingALongRecordingNeedsItsCodesMore) {
  const auto peak_of = [](int64_t frames) {
    const at::Tensor sound = sound_of(frames);  // the caller's, not counted
    const auto codec = small_codec();
    const PeakMemory peak;
    codec->encode(sound);
    return peak.bytes();
  };
  const int64_t more = (kMany - kSettled) * kEncodePieceFrames;
  const auto codes =
      more * test::small_config().n_codebooks() * static_cast<int64_t>(sizeof(int32_t));
  EXPECT_LE(peak_of(kMany * kEncodePieceFrames) - peak_of(kSettled * kEncodePieceFrames), codes);
}

}  // namespace
}  // namespace remora::codec
