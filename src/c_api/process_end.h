// The end of the process while threads are inside the library.
#pragma once

#include "base/cancel.h"

namespace remora::engine {
class Session;
}

namespace remora::c_api {

// LibTorch takes itself apart when the process ends, and a thread that computes meanwhile crashes.
// So the end stops the calls that run, waits for them, and lets no other one begin.
//
// One for each call into the library, while it runs.
class CallInProgress {
 public:
  CallInProgress() noexcept;
  ~CallInProgress();
  CallInProgress(const CallInProgress&) = delete;
  CallInProgress& operator=(const CallInProgress&) = delete;

  // False when the process is ending.
  bool allowed() const noexcept { return allowed_; }

 private:
  bool allowed_;
};

// Raised at the end: for calls that nothing else cancels.
const CancelFlag& process_end() noexcept;

// Cancelled at the end, while it lives.
class ActiveSession {
 public:
  explicit ActiveSession(engine::Session& session);
  ~ActiveSession();
  ActiveSession(const ActiveSession&) = delete;
  ActiveSession& operator=(const ActiveSession&) = delete;

 private:
  friend void cancel_active_sessions();

  engine::Session& session_;
  ActiveSession* previous_ = nullptr;
  ActiveSession* next_ = nullptr;
};

// True once this library's own statics are gone, and LibTorch's are about to go: what is destroyed
// from here on is left to the system.
bool process_is_over() noexcept;

}  // namespace remora::c_api
