#include "nn/thread_pool.h"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

#include <chrono>
#include <system_error>

#include "base/concat.h"
#include "base/error.h"

namespace remora::nn {
namespace {

// Longer than a barrier takes on idle cores, shorter than what a neighbour would notice.
constexpr auto kSpin = std::chrono::microseconds(50);

void pause() {
#if defined(__x86_64__) || defined(__i386__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Until `value` is no longer `old`: spinning first, asleep then.
void wait_for_change(const std::atomic<uint32_t>& value, uint32_t old) {
  const auto until = std::chrono::steady_clock::now() + kSpin;
  while (value.load(std::memory_order_acquire) == old) {
    for (int i = 0; i < 32; ++i) pause();
    if (std::chrono::steady_clock::now() > until) {
      value.wait(old, std::memory_order_acquire);
    }
  }
}

}  // namespace

ThreadPool::ThreadPool(int threads) : size_(threads < 1 ? 1 : threads) {
  threads_.reserve(static_cast<size_t>(size_ - 1));
  try {
    for (int thread = 1; thread < size_; ++thread) {
      threads_.emplace_back([this, thread] { work(thread); });
    }
  } catch (const std::system_error& error) {
    const size_t started = threads_.size();
    stop();
    throw Error(Status::kOutOfMemory,
                concat("threads: the system gives ", started + 1, " of the ", size_,
                       " that a session computes with: ", error.what(), "; set a lower count"));
  } catch (...) {
    stop();  // a thread that runs on would outlive what it works for
    throw;
  }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
  stop_ = true;
  started_.fetch_add(1, std::memory_order_release);
  started_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void ThreadPool::run(Job job, void* context) {
  job_ = job;
  context_ = context;
  if (size_ > 1) {
    started_.fetch_add(1, std::memory_order_release);
    started_.notify_all();
  }
  job(context, 0, *this);
  barrier();
}

void ThreadPool::work(int thread) {
  for (uint32_t seen = 0;; ++seen) {
    wait_for_change(started_, seen);
    if (stop_) return;
    job_(context_, thread, *this);
    barrier();
  }
}

void ThreadPool::barrier() {
  if (size_ == 1) return claimed_.store(0, std::memory_order_relaxed);
  const uint32_t round = round_.load(std::memory_order_acquire);
  if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == size_) {
    arrived_.store(0, std::memory_order_relaxed);
    claimed_.store(0, std::memory_order_relaxed);
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
    return;
  }
  wait_for_change(round_, round);
}

}  // namespace remora::nn
