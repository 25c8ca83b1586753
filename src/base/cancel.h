// A stop request that any thread may raise.
#pragma once

#include <atomic>
#include <string_view>

#include "base/concat.h"
#include "base/error.h"

namespace remora {

// Long work calls check() at each step: a slow step, a codebook, a codec piece, a file block.
class CancelFlag {
 public:
  void raise() noexcept { raised_.store(true, std::memory_order_relaxed); }
  void clear() noexcept { raised_.store(false, std::memory_order_relaxed); }
  bool raised() const noexcept { return raised_.load(std::memory_order_relaxed); }

  // Throws Error{kCancelled}; `doing` says what was stopped, such as "prefill".
  void check(std::string_view doing) const {
    if (raised()) throw Error(Status::kCancelled, concat(doing, ": stopped by cancel"));
  }

 private:
  std::atomic<bool> raised_{false};
};

}  // namespace remora
