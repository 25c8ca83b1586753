#include "engine/chunk_schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace remora::engine {
namespace {

// Plays a request on a simulated clock: making one frame takes `cost` of its own length (1 = real
// time), decoding a piece takes `overhead` frames of time besides. Returns how long the player
// stood still after its start, in frames.
double starved(const ChunkSchedule& settings, int64_t frames, double cost, double overhead) {
  ChunkSchedule schedule = settings;
  double now = 0;
  double played_until = -1;  // the player has sound up to this moment; -1 = not started
  double waited = 0;
  for (int64_t made = 0; made < frames;) {
    const int64_t piece = std::min(schedule.next(), frames - made);
    now += static_cast<double>(piece) * cost + overhead;
    if (played_until < 0) played_until = now;
    waited += std::max(0.0, now - played_until);
    played_until = std::max(played_until, now) + static_cast<double>(piece);
    made += piece;
    schedule.delivered(piece);
  }
  return waited;
}

TEST(ChunkSchedule, APlayerNeverStarvesAtFourFifthsOfRealTime) {
  for (const int64_t first : {1, 2, 3, 4, 8, 12}) {
    for (const int64_t largest : {12, 24, 64}) {
      for (const int64_t frames : {1, 2, 5, 13, 100, 1000}) {
        // The rule is met with equality, so sums of 0.8 may differ by their rounding.
        EXPECT_LT(starved(ChunkSchedule(first, std::max(first, largest)), frames, 0.8, 0), 1e-9)
            << "first " << first << " largest " << largest << " frames " << frames;
      }
    }
  }
}

// The margin of the rule is used up by nothing else: a slower engine does starve it.
TEST(ChunkSchedule, TheSimulationSeesAnEngineThatIsTooSlow) {
  EXPECT_GT(starved(ChunkSchedule(4, 64), 1000, 1.1, 0), 0);
  EXPECT_GT(starved(ChunkSchedule(1, 64), 100, 0.95, 0), 0);
}

TEST(ChunkSchedule, PiecesGrowFromTheFirstToTheLargest) {
  ChunkSchedule schedule(4, 12);
  std::vector<int64_t> pieces;
  for (int i = 0; i < 12; ++i) {
    pieces.push_back(schedule.next());
    schedule.delivered(pieces.back());
  }
  EXPECT_EQ(pieces.front(), 4);
  EXPECT_TRUE(std::is_sorted(pieces.begin(), pieces.end()));
  EXPECT_EQ(pieces.back(), 12);
  schedule.reset();
  EXPECT_EQ(schedule.next(), 4);
}

}  // namespace
}  // namespace remora::engine
