// A codec of another shape than the released one runs through the same code.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>

#include "base/error.h"
#include "codec/decode_stream.h"
#include "codec/encode_stream.h"
#include "random_codec.h"
#include "support/golden.h"

namespace remora::codec {
namespace {

at::Tensor random_codes(const CodecConfig& config, int64_t frames) {
  return at::randint(0, config.residual_entries, {config.n_codebooks(), frames},
                     at::make_generator<at::CPUGeneratorImpl>(3),
                     at::TensorOptions().dtype(at::kInt));
}

std::shared_ptr<const Codec> small_codec(CodecOptions options = {}, bool folded = true) {
  return std::make_shared<const Codec>(test::random_codec(test::small_config(), 1, folded),
                                       test::small_config(), options);
}

TEST(SmallCodec, DecodesAtItsOwnFrameLength) {
  const CodecConfig config = test::small_config();
  EXPECT_EQ(config.frame_length(), 640);
  const at::Tensor wave = small_codec()->decode(random_codes(config, 9));
  EXPECT_EQ(wave.numel(), 9 * 640);
  EXPECT_GT(wave.std().item<double>(), 0.05);  // a signal, not silence or saturation
  EXPECT_LT(wave.std().item<double>(), 0.9);
}

TEST(SmallCodec, StreamEqualsWhole) {
  const CodecConfig config = test::small_config();
  const at::Tensor codes = random_codes(config, 40);
  const auto codec = small_codec();
  const at::Tensor whole = codec->decode(codes);
  DecodeStream stream(codec);
  std::vector<at::Tensor> parts;
  for (int64_t done = 0; done < 40; done += 8) {
    parts.push_back(stream.push(codes.narrow(1, done, 3)));
    parts.push_back(stream.push(codes.narrow(1, done + 3, 5)));
  }
  EXPECT_TRUE(test::close(at::cat(parts), whole, 2e-5));  // other orders of summation
}

TEST(SmallCodec, WorkingOnSmallerPartsChangesRoundingOnly) {
  const at::Tensor codes = random_codes(test::small_config(), 15);
  CodecOptions options;
  options.block_elements = 256;  // fewer than one row of some blocks makes
  EXPECT_TRUE(test::close(small_codec(options)->decode(codes), small_codec()->decode(codes), 2e-5));
}

TEST(SmallCodec, MoreThreadsChangeRoundingOnly) {
  const at::Tensor codes = random_codes(test::small_config(), 24);
  const auto codec = small_codec();
  const at::Tensor wave = codec->decode(codes);
  const int before = at::get_num_threads();
  at::set_num_threads(3);
  const at::Tensor threaded = codec->decode(codes);
  at::set_num_threads(before);
  EXPECT_TRUE(test::close(threaded, wave, 2e-5));
}

TEST(SmallCodec, EncodesInPiecesAsWhole) {
  const at::Tensor audio = at::rand({20 * 640 - 123}, at::make_generator<at::CPUGeneratorImpl>(5),
                                    at::TensorOptions().dtype(at::kFloat)) -
                           0.5;
  const auto codec = small_codec();
  const at::Tensor whole = codec->encode(audio);
  EXPECT_EQ(whole.sizes(), at::IntArrayRef({4, 20}));
  EXPECT_GT(whole.max().item<int>(), 32);  // not always the first entries
  EXPECT_LT(whole[0].max().item<int>(), 128);
  EncodeStream stream(codec);
  std::vector<at::Tensor> parts;
  for (int64_t done = 0; done < audio.numel(); done += 1777) {
    parts.push_back(stream.push(audio.slice(0, done, done + 1777)));
  }
  parts.push_back(stream.finish());
  EXPECT_TRUE(test::close(at::cat(parts, 1), whole, 0));
}

TEST(SmallCodec, EncodesTheSameInSmallerParts) {
  const at::Tensor audio = at::rand({9 * 640}, at::make_generator<at::CPUGeneratorImpl>(6),
                                    at::TensorOptions().dtype(at::kFloat)) -
                           0.5;
  CodecOptions options;
  options.block_elements = 64;
  EXPECT_TRUE(test::close(small_codec(options)->encode(audio), small_codec()->encode(audio), 0));
}

TEST(SmallCodec, LoadsWithWeightNormInBothSpellings) {
  EXPECT_EQ(small_codec({}, false)->decode(random_codes(test::small_config(), 2)).numel(), 1280);
}

}  // namespace
}  // namespace remora::codec
