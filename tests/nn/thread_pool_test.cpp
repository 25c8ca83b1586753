#include "nn/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace remora::nn {
namespace {

struct Work {
  std::vector<int> values;
  std::vector<int> sums;
};

// Each thread writes its value, then, behind a barrier, adds up everybody's: many times over.
void exchange(void* context, int thread, ThreadPool& pool) {
  Work& work = *static_cast<Work*>(context);
  const auto at = static_cast<size_t>(thread);
  for (int round = 1; round <= 500; ++round) {
    work.values[at] = round * (thread + 1);
    pool.barrier();
    int sum = 0;
    for (const int value : work.values) sum += value;
    work.sums[at] += sum;
    pool.barrier();
  }
}

TEST(ThreadPool, BarriersOrderWhatTheThreadsSee) {
  for (const int threads : {1, 2, 4}) {
    ThreadPool pool(threads);
    Work work{std::vector<int>(static_cast<size_t>(threads)),
              std::vector<int>(static_cast<size_t>(threads))};
    pool.run(exchange, &work);
    const int expected = 500 * 501 / 2 * threads * (threads + 1) / 2;
    EXPECT_EQ(work.sums, std::vector<int>(static_cast<size_t>(threads), expected));
  }
}

constexpr int kPieces = 40;

// Takes pieces of work until there are none, in each of many rounds.
void take_pieces(void* context, int /*thread*/, ThreadPool& pool) {
  auto& taken = *static_cast<std::vector<std::atomic<int>>*>(context);
  for (size_t round = 0; round < taken.size() / kPieces; ++round) {
    for (int64_t piece = pool.claim(); piece < kPieces; piece = pool.claim()) {
      ++taken[round * kPieces + static_cast<size_t>(piece)];
    }
    pool.barrier();
  }
}

TEST(ThreadPool, EachPieceOfARoundGoesToOneThread) {
  for (const int threads : {1, 2, 3}) {
    ThreadPool pool(threads);
    std::vector<std::atomic<int>> taken(200 * kPieces);
    for (int run = 1; run <= 2; ++run) {
      pool.run(take_pieces, &taken);
      for (const auto& times : taken) ASSERT_EQ(times, run);
    }
  }
}

void count(void* context, int /*thread*/, ThreadPool& /*pool*/) {
  static_cast<std::atomic<int>*>(context)->fetch_add(1);
}

TEST(ThreadPool, RunsAfterItsThreadsFellAsleep) {
  ThreadPool pool(3);
  std::atomic<int> calls{0};
  for (int i = 0; i < 5; ++i) {
    pool.run(count, &calls);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_EQ(calls, 15);
}

TEST(ThreadPool, StartsAndStopsWithoutWork) {
  for (int i = 0; i < 20; ++i) ThreadPool pool(4);
}

TEST(ThreadPool, LessThanOneThreadIsOne) { EXPECT_EQ(ThreadPool(0).size(), 1); }

}  // namespace
}  // namespace remora::nn
