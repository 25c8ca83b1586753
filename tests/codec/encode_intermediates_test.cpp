// Every stage of encoding against the reference's intermediate results.
#include <ATen/ops/constant_pad_nd.h>

#include "codec_files.h"
#include "recorder.h"
#include "support/golden.h"

namespace remora::codec {
namespace {

TEST(EncodeIntermediates, EqualTheReference) {
  const test::Golden golden("codec/encode_intermediates.safetensors");
  const EncodePath& path = test::golden_codec()->encode_path();
  test::Recorder recorder;
  const Observer observer = recorder.observer();
  CarriedState state = path.initial_state();
  const at::Tensor samples = golden["s3/audio_unpadded"][0][0];
  const at::Tensor codes = path.forward(
      state, at::constant_pad_nd(samples, {0, 3 * 2048 - samples.numel()}), 9, nullptr, &observer);
  recorder.expect_reference("encode_intermediates.safetensors", "s3",
                            {"s3/audio_unpadded", "s3/codes"});
  EXPECT_TRUE(test::close(codes, golden["s3/codes"][0], 0));
}

}  // namespace
}  // namespace remora::codec
