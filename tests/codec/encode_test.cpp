// Encoding, whole and in pieces, at exactly the reference's codes.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <limits>

#include "base/error.h"
#include "codec/encode_stream.h"
#include "codec_files.h"
#include "support/golden.h"

namespace remora::codec {
namespace {

using test::close;
using test::golden_codec;

// Every case's nearest entry wins by at least 1.2e-4 in squared distance, rounding moves distances
// by about 1e-6: codes must be equal.
at::Tensor audio_of(const std::string& name) {
  return test::Golden("codec/encode.safetensors")["audio." + name].to(at::kFloat) / 32768.0;
}
at::Tensor codes_of(const std::string& name) {
  return test::Golden("codec/encode.safetensors")["codes." + name][0];
}

class EncodeCase : public testing::TestWithParam<std::string> {};

TEST_P(EncodeCase, GivesTheReferencesCodes) {
  EXPECT_TRUE(close(golden_codec()->encode(audio_of(GetParam())), codes_of(GetParam()), 0));
}

INSTANTIATE_TEST_SUITE_P(Encode, EncodeCase,
                         testing::Values("sweep", "noise", "speech", "silence", "odd1", "odd511",
                                         "odd2047", "odd2048", "odd2049", "odd4097", "odd10001"),
                         [](const auto& param) { return param.param; });

TEST(Encode, ItemsOfAPaddedBatchGiveTheirOwnFrames) {
  const test::Golden golden("codec/encode.safetensors");
  const at::Tensor noise = audio_of("noise");
  const at::Tensor codes = golden["codes.batch_lengths"];  // [2, 10, 5], padded
  EXPECT_TRUE(close(golden_codec()->encode(noise.slice(0, 0, 5000)), codes[0].narrow(1, 0, 3), 0));
  EXPECT_TRUE(close(golden_codec()->encode(noise.slice(0, 20000, 29001)), codes[1], 0));
}

TEST(Encode, FewerResidualCodebooksAreThePrefix) {
  const at::Tensor audio = audio_of("odd4097");
  const at::Tensor all = golden_codec()->encode(audio);
  EXPECT_TRUE(close(golden_codec()->encode(audio, 3), all.narrow(0, 0, 4), 0));
  EXPECT_TRUE(close(golden_codec()->encode(audio, 0), all.narrow(0, 0, 1), 0));
}

class SampleCounts : public testing::TestWithParam<std::vector<int64_t>> {};

TEST_P(SampleCounts, GiveTheCodesOfTheWhole) {
  const at::Tensor audio = audio_of("speech");
  EncodeStream stream(golden_codec());
  std::vector<at::Tensor> parts;
  size_t turn = 0;
  for (int64_t done = 0; done < audio.numel();) {
    const int64_t n = std::min(GetParam()[turn++ % GetParam().size()], audio.numel() - done);
    parts.push_back(stream.push(audio.narrow(0, done, n)));
    done += n;
  }
  EXPECT_EQ(stream.frames(), audio.numel() / 2048);
  parts.push_back(stream.finish());
  EXPECT_TRUE(close(at::cat(parts, 1), codes_of("speech"), 0));
}

INSTANTIATE_TEST_SUITE_P(EncodeStream, SampleCounts,
                         testing::Values(std::vector<int64_t>{2048}, std::vector<int64_t>{6144},
                                         std::vector<int64_t>{1000}, std::vector<int64_t>{97021},
                                         std::vector<int64_t>{1, 4095, 0, 30000, 7}));

TEST(EncodeStream, FinishOfWholeFramesAddsNone) {
  EncodeStream stream(golden_codec());
  EXPECT_TRUE(close(stream.push(audio_of("odd2048")), codes_of("odd2048"), 0));
  EXPECT_EQ(stream.finish().sizes(), at::IntArrayRef({10, 0}));
}

TEST(EncodeStream, FinishStartsOver) {
  EncodeStream stream(golden_codec(), 2);
  const at::Tensor audio = audio_of("odd2049");
  const at::Tensor first = at::cat({stream.push(audio), stream.finish()}, 1);
  EXPECT_TRUE(close(first, codes_of("odd2049").narrow(0, 0, 3), 0));
  EXPECT_TRUE(close(at::cat({stream.push(audio), stream.finish()}, 1), first, 0));
}

TEST(EncodeStream, AFailedPushLeavesItWhereItWas) {
  const at::Tensor audio = audio_of("odd4097");
  EncodeStream stream(golden_codec());
  std::vector<at::Tensor> parts = {stream.push(audio.narrow(0, 0, 3000))};
  CancelFlag cancel;
  cancel.raise();
  EXPECT_THROW(stream.push(audio.narrow(0, 3000, 1097), &cancel), Error);
  EXPECT_THROW(stream.push(audio.narrow(0, 3000, 1097).to(at::kDouble)), Error);
  parts.push_back(stream.push(audio.narrow(0, 3000, 1097)));
  parts.push_back(stream.finish());
  EXPECT_TRUE(close(at::cat(parts, 1), codes_of("odd4097"), 0));
}

Status status_of(const at::Tensor& samples, std::optional<int64_t> residual = std::nullopt) {
  try {
    golden_codec()->encode(samples, residual);
  } catch (const Error& error) {
    return error.status();
  }
  return Status::kOk;
}

TEST(Encode, BadSoundIsAnError) {
  const auto options = at::TensorOptions().dtype(at::kFloat);
  EXPECT_EQ(status_of(at::empty({0}, options)), Status::kInvalidArgument);
  EXPECT_EQ(status_of(at::zeros({2, 3000}, options)), Status::kInvalidArgument);
  EXPECT_EQ(status_of(at::zeros({3000}, options.dtype(at::kShort))), Status::kInvalidArgument);
  EXPECT_EQ(status_of(at::zeros({3000}, options), 10), Status::kInvalidArgument);
  EXPECT_EQ(status_of(at::zeros({3000}, options), -1), Status::kInvalidArgument);
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    at::Tensor samples = at::zeros({3000}, options);
    samples[2500] = bad;
    EXPECT_EQ(status_of(samples), Status::kInvalidArgument);
  }
  EXPECT_EQ(status_of(at::zeros({3000}, options)), Status::kOk);
}

TEST(Encode, WithoutItsHalfOfTheCodecIsAnError) {
  const CodecConfig& config = golden_codec()->config();
  const auto decoder =
      std::make_shared<const Codec>(test::golden_tensors(), config, CodecOptions{.encoder = false});
  EXPECT_THROW(decoder->encode(audio_of("odd1")), Error);
  EXPECT_THROW(EncodeStream{decoder}, Error);
  const Codec encoder(test::golden_tensors(), config, {.decoder = false});
  EXPECT_THROW(encoder.decode(codes_of("odd1")), Error);
  EXPECT_TRUE(close(encoder.encode(audio_of("odd1")), codes_of("odd1"), 0));
}

}  // namespace
}  // namespace remora::codec
