#include "bench/read_bandwidth.h"

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <span>
#include <thread>
#include <vector>

#include "terminal.h"

namespace remora::cli {
namespace {

constexpr size_t kWords = (size_t{1} << 30) / sizeof(uint64_t);
constexpr size_t kLanes = 16;  // independent sums, so that additions never wait for each other

uint64_t sum(std::span<const uint64_t> words) {
  uint64_t lanes[kLanes] = {};
  for (size_t i = 0; i + kLanes <= words.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += words[i + lane];
  }
  uint64_t total = 0;
  for (const uint64_t lane : lanes) total += lane;
  return total;
}

}  // namespace

Samples read_bandwidth(int threads, int repeats) {
  const std::vector<uint64_t> buffer(kWords, 1);
  const size_t share = kWords / static_cast<size_t>(threads);
  std::atomic<uint64_t> total{0};
  Samples samples;
  std::chrono::steady_clock::time_point start;
  // Both meetings of a round run this once: the first starts the clock, the second reads it.
  bool reading = false;
  const auto on_meeting = [&]() noexcept {
    if (reading) {
      const double seconds = milliseconds_since(start) / 1e3;
      samples.add(static_cast<double>(share) * threads * sizeof(uint64_t) / seconds / 1e9);
    }
    reading = !reading;
    start = std::chrono::steady_clock::now();
  };
  std::barrier meeting(threads, on_meeting);
  const auto work = [&](int index) {
    const auto mine = std::span(buffer).subspan(static_cast<size_t>(index) * share, share);
    for (int round = 0; round < repeats; ++round) {
      meeting.arrive_and_wait();
      total += sum(mine);
      meeting.arrive_and_wait();
    }
  };
  std::vector<std::thread> pool;
  for (int i = 0; i < threads; ++i) pool.emplace_back(work, i);
  for (std::thread& thread : pool) thread.join();
  // Uses the sums, so that no compiler may leave the reads out.
  return total.load() == 0 ? Samples() : samples;
}

}  // namespace remora::cli
