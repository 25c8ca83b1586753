// Decoding in pieces: exact state from piece to piece.
#include "codec/decode_stream.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>

#include <numeric>

#include "base/error.h"
#include "codec_files.h"
#include "support/golden.h"

namespace remora::codec {
namespace {

using test::close;
using test::golden_codec;

// As for whole decoding: float32 sums in another order, nothing else.
constexpr double kTolerance = 2e-5;

at::Tensor codes_of(const std::string& name) {
  return test::Golden("codec/decode.safetensors")["codes." + name][0];
}
at::Tensor wave_of(const std::string& name) {
  return test::Golden("codec/decode.safetensors")["wav." + name][0][0];
}

// Pushes `codes` in pieces whose lengths repeat `lengths`.
at::Tensor streamed(DecodeStream& stream, const at::Tensor& codes,
                    const std::vector<int64_t>& lengths) {
  std::vector<at::Tensor> parts;
  size_t turn = 0;
  for (int64_t done = 0; done < codes.size(1);) {
    const int64_t n = std::min(lengths[turn++ % lengths.size()], codes.size(1) - done);
    parts.push_back(stream.push(codes.narrow(1, done, n)));
    done += n;
  }
  return at::cat(parts);
}

class PieceLengths : public testing::TestWithParam<std::vector<int64_t>> {};

TEST_P(PieceLengths, EqualTheWholeClip) {
  DecodeStream stream(golden_codec());
  const at::Tensor wave = streamed(stream, codes_of("f100"), GetParam());
  EXPECT_TRUE(close(wave, wave_of("f100"), kTolerance));
  EXPECT_EQ(stream.frames(), 100);
}

// Every length up to beyond the codec's own pieces, some larger ones, and a mix.
std::vector<std::vector<int64_t>> piece_lengths() {
  std::vector<std::vector<int64_t>> all = {{25}, {64}, {100}, {1, 30, 2, 0, 13, 5}};
  for (int64_t length = 1; length <= kPieceFrames + 4; ++length) all.push_back({length});
  return all;
}

INSTANTIATE_TEST_SUITE_P(DecodeStream, PieceLengths, testing::ValuesIn(piece_lengths()));

TEST(DecodeStream, ResumesFromTheReferencesState) {
  const test::Golden golden("codec/stream_state.safetensors");
  const StateLayout& layout = golden_codec()->decode_path().layout();
  std::vector<at::Tensor> state;
  for (const StateSlot& slot : layout.slots()) {
    const at::Tensor stored = golden[slot.name][0];
    state.push_back(slot.growing_axis >= 0 ? stored : stored.t());  // [channels, time] there
  }
  DecodeStream stream(golden_codec());
  stream.restore(state, 13);
  const at::Tensor wave = stream.push(codes_of("f17").narrow(1, 13, 4));
  EXPECT_TRUE(close(wave, wave_of("f17").slice(0, 13 * 2048), kTolerance));
}

TEST(DecodeStream, CarriesTheReferencesState) {
  const test::Golden golden("codec/stream_state.safetensors");
  const StateLayout& layout = golden_codec()->decode_path().layout();
  DecodeStream stream(golden_codec());
  stream.push(codes_of("f17").narrow(1, 0, 13));
  for (size_t i = 0; i < layout.slots().size(); ++i) {
    const StateSlot& slot = layout.slots()[i];
    const at::Tensor expected = golden[slot.name][0];
    const at::Tensor actual = slot.growing_axis >= 0 ? stream.state()[i] : stream.state()[i].t();
    const double largest = std::max(1.0, expected.abs().max().item<double>());
    EXPECT_TRUE(close(actual, expected, kTolerance * largest)) << slot.name;
  }
}

TEST(DecodeStream, ACopyGoesOnByItself) {
  const at::Tensor codes = codes_of("f17");
  DecodeStream stream(golden_codec());
  stream.push(codes.narrow(1, 0, 9));
  DecodeStream copy = stream;
  stream.push(codes.narrow(1, 0, 5));  // other frames, which the copy must not see
  const at::Tensor rest = copy.push(codes.narrow(1, 9, 8));
  EXPECT_TRUE(close(rest, wave_of("f17").slice(0, 9 * 2048), kTolerance));
}

TEST(DecodeStream, SavedStateContinuesExactly) {
  const at::Tensor codes = codes_of("f17");
  DecodeStream stream(golden_codec());
  stream.push(codes.narrow(1, 0, 9));
  DecodeStream other(golden_codec());
  other.restore(stream.state(), stream.frames());
  const at::Tensor rest = codes.narrow(1, 9, 8);
  EXPECT_TRUE(close(other.push(rest), stream.push(rest), 0));
}

TEST(DecodeStream, ResetStartsOver) {
  const at::Tensor codes = codes_of("f17");
  DecodeStream stream(golden_codec());
  const at::Tensor first = stream.push(codes);
  stream.reset();
  EXPECT_EQ(stream.frames(), 0);
  EXPECT_TRUE(close(stream.push(codes), first, 0));
}

TEST(DecodeStream, AFailedPushLeavesItWhereItWas) {
  const at::Tensor codes = codes_of("f17");
  DecodeStream stream(golden_codec());
  stream.push(codes.narrow(1, 0, 9));
  CancelFlag cancel;
  cancel.raise();
  EXPECT_THROW(stream.push(codes.narrow(1, 9, 8), &cancel), Error);
  EXPECT_THROW(stream.push(codes.narrow(1, 9, 8) - 5000), Error);
  EXPECT_EQ(stream.frames(), 9);
  EXPECT_TRUE(
      close(stream.push(codes.narrow(1, 9, 8)), wave_of("f17").slice(0, 9 * 2048), kTolerance));
}

TEST(DecodeStream, RefusesAStateThatDoesNotFit) {
  DecodeStream stream(golden_codec());
  stream.push(codes_of("f17").narrow(1, 0, 5));
  DecodeStream other(golden_codec());
  EXPECT_THROW(other.restore(stream.state(), 6), Error);  // keys of 5 frames
  EXPECT_THROW(other.restore({}, 5), Error);
  std::vector<at::Tensor> state = stream.state();
  state.back() = state.back().to(at::kDouble);
  EXPECT_THROW(other.restore(state, 5), Error);
  EXPECT_EQ(other.frames(), 0);
}

}  // namespace
}  // namespace remora::codec
