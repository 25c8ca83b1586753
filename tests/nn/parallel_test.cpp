#include "nn/parallel.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace remora::nn {
namespace {

class Threads {
 public:
  explicit Threads(int count) : before_(at::get_num_threads()) { at::set_num_threads(count); }
  ~Threads() { at::set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

struct Seen {
  std::vector<int> times;  // that each number was worked on
  std::set<std::thread::id> threads;
};

Seen run(int64_t count, int64_t grain) {
  Seen seen{std::vector<int>(static_cast<size_t>(count)), {}};
  std::mutex mutex;
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    const std::lock_guard lock(mutex);
    seen.threads.insert(std::this_thread::get_id());
    for (int64_t i = begin; i < end; ++i) ++seen.times[static_cast<size_t>(i)];
  });
  return seen;
}

TEST(ParallelFor, WorksOnEachNumberOnceOnSeveralThreads) {
  const Threads threads(2);
  for (const int64_t count : {1, 2, 3, 7, 1000}) {
    const Seen seen = run(count, 1);
    EXPECT_EQ(seen.times, std::vector<int>(static_cast<size_t>(count), 1)) << count;
    EXPECT_EQ(seen.threads.size(), count == 1 ? 1U : 2U) << count;
  }
  EXPECT_TRUE(run(0, 1).threads.empty());
}

TEST(ParallelFor, StaysOnOneThreadForLessThanAGrainAndWithinARange) {
  const Threads threads(2);
  EXPECT_EQ(run(100, 100).threads.size(), 1U);
  std::mutex mutex;
  parallel_for(2, 1, [&](int64_t, int64_t) {
    const Seen inner = run(50, 1);
    const std::lock_guard lock(mutex);
    EXPECT_EQ(inner.threads, std::set{std::this_thread::get_id()});
  });
}

TEST(ParallelFor, OneThreadAskedForIsOneThread) {
  const Threads threads(1);
  EXPECT_EQ(run(1000, 1).threads, std::set{std::this_thread::get_id()});
}

TEST(ParallelFor, AnErrorReachesTheCaller) {
  const Threads threads(2);
  EXPECT_THROW(parallel_for(8, 1,
                            [](int64_t, int64_t end) {
                              if (end == 8) throw std::runtime_error("of the last range");
                            }),
               std::runtime_error);
}

}  // namespace
}  // namespace remora::nn
