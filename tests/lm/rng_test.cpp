#include "lm/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "support/golden.h"

namespace remora::lm {
namespace {

std::vector<float> next(Mt19937& stream, int32_t count) {
  std::vector<int32_t> all(static_cast<size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  std::vector<float> out(all.size());
  stream.draw(count, all, out);
  return out;
}

TEST(Mt19937, EqualsTheReferenceStreamForSmallSeeds) {
  const test::Golden cases("lm/s2pro_cases.safetensors");
  const at::Tensor expected = cases["rng.seed42.first16"];
  Mt19937 stream(42);
  const std::vector<float> ours = next(stream, 16);
  for (int64_t i = 0; i < 16; ++i) {
    EXPECT_EQ(ours[static_cast<size_t>(i)], expected[i].item<float>()) << i;
  }
}

TEST(Mt19937, LargeSeedsStartFromBothHalves) {
  // Lowest 24 bits of the first words that the array initialisation gives for {42, 7}.
  const std::vector<float> expected{1177770, 13812382, 6467407, 9447681};
  Mt19937 stream((uint64_t{7} << 32) | 42);
  std::vector<float> ours = next(stream, 4);
  for (float& u : ours) u *= 16777216.0F;
  EXPECT_EQ(ours, expected);
}

TEST(Mt19937, SeedsThatDifferInAnyBitGiveOtherStreams) {
  std::vector<std::vector<float>> streams;
  for (const uint64_t seed : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 32, (uint64_t{1} << 32) + 1,
                              uint64_t{1} << 63, ~uint64_t{0}}) {
    Mt19937 stream(seed);
    streams.push_back(next(stream, 8));
  }
  std::sort(streams.begin(), streams.end());
  EXPECT_EQ(std::unique(streams.begin(), streams.end()), streams.end());
}

TEST(Mt19937, LookingAtFewWordsOrNoneMovesAsFar) {
  Mt19937 whole(7), sparse(7);
  const std::vector<float> all = next(whole, 5000);
  // Around the generator's block size of 624, and the last word.
  const std::vector<int32_t> wanted{0, 1, 622, 623, 624, 1247, 1248, 2999};
  std::vector<float> some(wanted.size());
  sparse.draw(3000, wanted, some);
  for (size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_EQ(some[i], all[static_cast<size_t>(wanted[i])]) << wanted[i];
  }
  sparse.skip(1999);
  EXPECT_EQ(next(sparse, 1).front(), all[4999]);
}

TEST(Mt19937, NeverGivesZeroOrOne) {
  // 2^24 values are possible: in this many draws zeros would show up with near certainty.
  constexpr int32_t kBlock = 1 << 20;
  Mt19937 stream(1);
  float lowest = 1, highest = 0;
  for (int32_t i = 0; i < 128; ++i) {
    const std::vector<float> block = next(stream, kBlock);
    lowest = std::min(lowest, *std::min_element(block.begin(), block.end()));
    highest = std::max(highest, *std::max_element(block.begin(), block.end()));
  }
  EXPECT_GT(lowest, 0.0F);
  EXPECT_LT(highest, 1.0F);
}

TEST(Mt19937, ContinuesFromASavedPosition) {
  Mt19937 stream(3), other(4);
  stream.skip(1000);
  const auto saved = stream.save();
  ASSERT_TRUE(other.restore(saved));
  EXPECT_EQ(next(other, 700), next(stream, 700));
  auto broken = saved;
  broken.back() = 625;
  EXPECT_FALSE(other.restore(broken));
}

}  // namespace
}  // namespace remora::lm
