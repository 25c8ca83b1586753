// A few threads for one decode step: they spin for an instant, then sleep.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace remora::nn {

// LibTorch's own pool keeps its threads spinning at each barrier, which on a busy machine costs
// many times the work; and its size belongs to the host. Not thread-safe: one caller at a time.
class ThreadPool {
 public:
  // `threads` in all, the caller's included; 1 starts none. Throws Error{kOutOfMemory} when the
  // system gives fewer; none is left running then.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return size_; }

  // Runs job(thread, *this) on every thread, thread 0 being the caller; returns when all are done.
  // The job must not throw.
  using Job = void (*)(void* context, int thread, ThreadPool& pool);
  void run(Job job, void* context);

  // Within a job: waits until every thread of the pool has come here.
  void barrier();
  // Within a job: 0, 1, 2, ... since the last barrier, each to one thread only. Work that is taken
  // piece by piece waits little for a thread whose core the system gave to somebody else.
  int64_t claim() { return claimed_.fetch_add(1, std::memory_order_relaxed); }

 private:
  void work(int thread);
  void stop();

  int size_;
  std::vector<std::thread> threads_;
  Job job_ = nullptr;
  void* context_ = nullptr;
  alignas(64) std::atomic<uint32_t> started_{0};  // jobs so far; a change wakes the threads
  alignas(64) std::atomic<uint32_t> round_{0};    // barriers passed
  alignas(64) std::atomic<int> arrived_{0};       // threads at the current barrier
  alignas(64) std::atomic<int64_t> claimed_{0};   // numbers given out since the last one
  bool stop_ = false;
};

}  // namespace remora::nn
