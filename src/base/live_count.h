// How many objects of a kind are alive: tests see by it that nothing was left behind.
#pragma once

#include <atomic>
#include <cstdint>

namespace remora {

// A base of T. Costs one relaxed addition when a T is made or ends; T does not grow.
template <typename T>
class LiveCount {
 public:
  static int64_t alive() noexcept { return alive_.load(std::memory_order_relaxed); }

 protected:
  LiveCount() noexcept { add(1); }
  LiveCount(const LiveCount& /*other*/) noexcept { add(1); }
  LiveCount& operator=(const LiveCount&) noexcept = default;
  ~LiveCount() { add(-1); }

 private:
  static void add(int64_t n) noexcept { alive_.fetch_add(n, std::memory_order_relaxed); }

  static inline std::atomic<int64_t> alive_{0};
};

}  // namespace remora
