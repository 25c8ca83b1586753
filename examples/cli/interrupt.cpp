#include "interrupt.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>

#include "failure.h"

namespace remora::cli {
namespace {

// All that the signal handler touches.
std::atomic<bool> interrupted{false};
std::atomic<int> wake_fd{-1};

constexpr char kSignal = 's';
constexpr char kQuit = 'q';

extern "C" void remora_cli_on_interrupt(int) {
  const int saved = errno;
  interrupted.store(true);
  // A full pipe is as good as a written byte.
  [[maybe_unused]] const ssize_t written = write(wake_fd.load(), &kSignal, 1);
  errno = saved;
}

}  // namespace

Interrupt::Interrupt() {
  if (pipe(pipe_.data()) != 0) throw Failure(kError, "cannot open a pipe for Ctrl-C");
  wake_fd.store(pipe_[1]);
  thread_ = std::thread([this] { wait_for_signal(); });
  struct sigaction action = {};
  action.sa_handler = remora_cli_on_interrupt;
  action.sa_flags = SA_RESETHAND | SA_RESTART;  // a second Ctrl-C finds the default: the end
  sigaction(SIGINT, &action, nullptr);
}

Interrupt::~Interrupt() {
  std::signal(SIGINT, SIG_DFL);
  if (write(pipe_[1], &kQuit, 1) != 1) {  // it cannot be told to end
    thread_.detach();
    return;
  }
  thread_.join();
  for (const int end : pipe_) close(end);
}

bool Interrupt::raised() { return interrupted.load(); }

void Interrupt::wait_for_signal() {
  char byte = 0;
  for (;;) {
    const ssize_t n = read(pipe_[0], &byte, 1);
    if (n < 0 && errno == EINTR) continue;
    if (n != 1 || byte == kQuit) return;
    const std::lock_guard lock(mutex_);
    if (session_ != nullptr) remora_session_cancel(session_);
  }
}

void Interrupt::watch(remora_session* session) {
  const std::lock_guard lock(mutex_);
  session_ = session;
  if (session_ != nullptr && raised()) remora_session_cancel(session_);
}

Interrupt::Scope::Scope(Interrupt& interrupt, remora_session* session) : interrupt_(interrupt) {
  interrupt_.watch(session);
}

Interrupt::Scope::~Scope() { interrupt_.watch(nullptr); }

}  // namespace remora::cli
