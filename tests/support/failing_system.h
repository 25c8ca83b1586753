// Makes requests for memory and threads fail. Only in programs that link failing_system.cpp, which
// replaces operator new, posix_memalign (where LibTorch's tensors come from) and pthread_create of
// the whole program. What libtorch_cpu itself asks for is served: oneDNN, a part of it, does not
// live through a refusal. Its tensors' memory comes from libc10 and is refused.
#pragma once

#include <cstdint>

namespace remora::test {

enum class Failing : uint8_t {
  kOne,    // one request fails, later ones are served
  kAllOn,  // this one and all that follow: the way to the error must not need memory either
};

// While it lives, the n-th request of this thread fails, counted from 1. Other threads are served.
class FailingMemory {
 public:
  FailingMemory(int64_t nth, Failing mode);
  ~FailingMemory();
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;

  // Whether it came to the n-th request.
  bool reached() const;
};

// While it lives, the n-th thread that this thread starts is refused, counted from 1.
class FailingThreads {
 public:
  explicit FailingThreads(int nth);
  ~FailingThreads();
  FailingThreads(const FailingThreads&) = delete;
  FailingThreads& operator=(const FailingThreads&) = delete;
};

// Blocks of operator new in use now, by any thread.
int64_t blocks_in_use();

}  // namespace remora::test
