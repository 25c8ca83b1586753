// Ctrl-C: the first one asks the work to stop and lets the program finish its files, the second one
// ends the program at once.
#pragma once

#include <remora/remora.h>

#include <array>
#include <mutex>
#include <thread>

namespace remora::cli {

// One object in the whole program, alive while commands run.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // True once Ctrl-C was pressed. Any thread.
  static bool raised();

  // While it lives, Ctrl-C cancels this session; one at a time.
  class Scope {
   public:
    Scope(Interrupt& interrupt, remora_session* session);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Interrupt& interrupt_;
  };

 private:
  void watch(remora_session* session);
  void wait_for_signal();

  std::array<int, 2> pipe_{-1, -1};  // from the signal handler to the thread, which may take locks
  std::mutex mutex_;
  remora_session* session_ = nullptr;
  std::thread thread_;
};

}  // namespace remora::cli
