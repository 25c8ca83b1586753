// One call at a time on an object, seen from several threads.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/error.h"

namespace remora::engine {

// A call enters, works, leaves. A second call meanwhile is refused, not queued: a host that shares
// a session between threads by mistake is told so.
class UseGate {
 public:
  class Visit {
   public:
    explicit Visit(UseGate& gate) : gate_(gate) { gate_.enter(); }
    ~Visit() { gate_.leave(); }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;

   private:
    UseGate& gate_;
  };

  // Waits until no call is inside. Returns at once when the running call is this thread's own (a
  // callback that destroys its session): false then.
  bool wait_until_free() {
    std::unique_lock lock(mutex_);
    if (busy_ && visitor_ == std::this_thread::get_id()) return false;
    free_.wait(lock, [this] { return !busy_; });
    return true;
  }

 private:
  void enter() {
    const std::lock_guard lock(mutex_);
    if (busy_) {
      throw Error(Status::kBusy,
                  "session: another call is running on it; use one session per thread, or wait");
    }
    busy_ = true;
    visitor_ = std::this_thread::get_id();
  }
  void leave() {
    {
      const std::lock_guard lock(mutex_);
      busy_ = false;
    }
    free_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable free_;
  bool busy_ = false;
  std::thread::id visitor_;
};

}  // namespace remora::engine
