// Every stage of decoding against the reference's intermediate results.
#include "codec_files.h"
#include "recorder.h"
#include "support/golden.h"

namespace remora::codec {
namespace {

using test::golden_codec;
using test::Recorder;

Recorder record(const at::Tensor& codes) {
  Recorder recorder;
  const Observer observer = recorder.observer();
  const DecodePath& path = golden_codec()->decode_path();
  CarriedState state = path.initial_state();
  path.forward(state, codes, nullptr, &observer);
  return recorder;
}

void expect_all(const std::string& item, const at::Tensor& codes) {
  record(codes).expect_reference("decode_intermediates.safetensors", item, {item + "/mask"});
}

TEST(DecodeIntermediates, QuantiserSideEqualsTheReference) {
  expect_all("f17", test::Golden("codec/decode.safetensors")["codes.f17"][0]);
}

TEST(DecodeIntermediates, DecoderSideEqualsTheReference) {
  expect_all("f3", test::Golden("codec/decode.safetensors")["codes.batch2_f3"][0]);
}

}  // namespace
}  // namespace remora::codec
