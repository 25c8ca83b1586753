// How many frames to gather before the codec decodes the next piece.
#pragma once

#include <algorithm>
#include <cstdint>

namespace remora::engine {

// A piece costs a fixed overhead, so pieces should be large; the listener waits for the first, so
// that one should be small. In between they may grow only as fast as a player stays fed:
//
// With the engine needing r < 1 seconds for each second of sound, the frames D(n) after piece n are
// ready at time r D(n), and the player, started at r D(1), has consumed r (D(n) - D(1)) by then. It
// never runs dry when that is at most D(n-1), so a piece may hold D(n-1) (1/r - 1) + D(1) frames.
// r = 0.8 is assumed: 1/r - 1 = 1/4.
class ChunkSchedule {
 public:
  ChunkSchedule(int64_t first, int64_t largest) : first_(first), largest_(largest) {}

  // Frames of the next piece.
  int64_t next() const { return std::min(first_ + delivered_ / 4, std::max(first_, largest_)); }
  void delivered(int64_t frames) { delivered_ += frames; }
  int64_t delivered() const { return delivered_; }
  void reset() { delivered_ = 0; }

 private:
  int64_t first_;
  int64_t largest_;
  int64_t delivered_ = 0;
};

}  // namespace remora::engine
