#include <gtest/gtest.h>

#include <cmath>

#include "bench/frame_bytes.h"
#include "bench/read_bandwidth.h"
#include "bench/timing.h"

namespace remora::cli {
namespace {

TEST(Samples, MedianIsTheMiddleOne) {
  Samples samples;
  EXPECT_TRUE(std::isnan(samples.median()));
  for (const double value : {5.0, 1.0, 9.0}) samples.add(value);
  EXPECT_EQ(samples.median(), 5);
  samples.add(6);
  EXPECT_EQ(samples.median(), 5.5);
  EXPECT_EQ(samples.min(), 1);
  EXPECT_EQ(samples.max(), 9);
}

TEST(PeakMemory, FallsWithTheResetAndFollowsUse) {
  reset_peak_memory();
  const uint64_t before = peak_memory_since_reset();
  EXPECT_GT(before, 0u);
  const std::vector<char> used(64 << 20, 1);
  EXPECT_GE(peak_memory_since_reset(), before + (60u << 20)) << used.size();
}

// A frame of S2-Pro: 36 slow layers once and 4 fast layers ten times, each of
// 80 * 128 * 2560 + 3 * 9728 * 2560 weights, and the two heads.
TEST(FrameBytes, CountsEveryPassOfAFrame) {
  const FrameWeights weights = weights_per_frame(released_shape("s2-pro").lm, 1024);
  constexpr int64_t kLayer = 80 * 128 * 2560 + 3 * 9728 * 2560;
  EXPECT_EQ(weights.slow, 36 * kLayer + 4097 * 2560);
  EXPECT_EQ(weights.fast, 40 * kLayer + 9 * 1024 * 2560);
  EXPECT_EQ(weights_per_frame(released_shape("s2-pro").lm, 256).fast, 40 * kLayer + 9 * 256 * 2560);
  EXPECT_EQ(weights_per_frame({}, 1024).slow, 0);
}

TEST(FrameBytes, ReadsBothKindsOfConfiguration) {
  const LmShape nested = shape_from_config(
      R"({"text_config": {"dim": 64, "n_layer": 3, "n_head": 4, "n_local_heads": 2, "head_dim": 32,
          "intermediate_size": 96},
          "audio_decoder_config": {"n_layer": 2, "num_codebooks": 6, "vocab_size": 128}})");
  EXPECT_EQ(nested.slow.n_layer, 3);
  EXPECT_EQ(nested.fast.n_layer, 2);
  EXPECT_EQ(nested.fast.dim, 64);  // as the slow one
  EXPECT_EQ(nested.n_codebooks, 6);
  const LmShape flat = shape_from_config(
      R"({"dim": 64, "n_layer": 3, "n_head": 4, "n_local_heads": -1, "head_dim": 32,
          "intermediate_size": 96, "n_fast_layer": 1, "fast_head_dim": 16, "codebook_size": 100,
          "num_codebooks": 4})");
  EXPECT_EQ(flat.slow.n_kv_head, 4);
  EXPECT_EQ(flat.fast.head_dim, 16);
  EXPECT_EQ(flat.codebook_size, 100);
  EXPECT_EQ(weights_per_frame(shape_from_config("no JSON"), 1024).slow, 0);
  EXPECT_EQ(weights_per_frame(shape_from_config("[1]"), 1024).slow, 0);
}

TEST(FrameBytes, ResidualTablesAreAsLongAsTheCodecSays) {
  EXPECT_EQ(residual_entries_from_config(R"({"quantizer": {"codebook_size": 256}})"), 256);
  EXPECT_EQ(residual_entries_from_config(R"({"sample_rate": 16000})"), 1024);
  EXPECT_EQ(residual_entries_from_config(""), 1024);
}

TEST(ReadBandwidth, GivesAFigureForEachRepeat) {
  const Samples samples = read_bandwidth(2, 3);
  EXPECT_EQ(samples.size(), 3u);
  EXPECT_GT(samples.min(), 0.01);  // GB/s; far below any machine
  EXPECT_LT(samples.max(), 1e5);
}

}  // namespace
}  // namespace remora::cli
