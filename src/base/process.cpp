#include "base/process.h"

#include <unistd.h>

#include <atomic>

namespace remora {

bool in_forked_child() noexcept {
  static std::atomic<pid_t> owner{0};
  const pid_t self = ::getpid();
  pid_t expected = 0;
  return !owner.compare_exchange_strong(expected, self, std::memory_order_relaxed) &&
         expected != self;
}

}  // namespace remora
