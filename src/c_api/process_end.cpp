#include "c_api/process_end.h"

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "base/process.h"
#include "engine/session.h"

namespace remora::c_api {
namespace {

// The longest that the end waits for a call: one step or piece of a large model on a slow machine.
constexpr auto kPatience = std::chrono::seconds(10);

// None of these has a destructor: they are used while others run.
CancelFlag g_end;
std::atomic<bool> g_over{false};
std::atomic<int64_t> g_running{0};  // calls of all threads
std::atomic<uint64_t> g_finished{0};
thread_local int64_t t_running = 0;  // calls of this thread, one inside the other
std::mutex g_sessions_mutex;
ActiveSession* g_sessions = nullptr;

}  // namespace

void cancel_active_sessions() {
  const std::lock_guard lock(g_sessions_mutex);
  for (ActiveSession* one = g_sessions; one != nullptr; one = one->next_) one->session_.cancel();
}

namespace {

void end_of_process() {
  // A child made by fork() has the counts of threads that it does not have.
  if (in_forked_child()) return;
  g_end.raise();
  std::atomic_thread_fence(std::memory_order_seq_cst);
  cancel_active_sessions();
  const auto until = std::chrono::steady_clock::now() + kPatience;
  // This thread's own calls never return: a callback of theirs ended the process.
  while (g_running.load() > t_running && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

// LibTorch makes objects when it first needs them, and what is made last goes first. Asking again
// behind the first, second, fourth, ... call puts this before all but the latest of them.
void ask_to_be_called() noexcept {
  const uint64_t finished = g_finished.fetch_add(1, std::memory_order_relaxed) + 1;
  if (std::has_single_bit(finished)) std::atexit(end_of_process);
}

struct Over {
  ~Over() { g_over = true; }
};
const Over g_over_at_the_end;

}  // namespace

CallInProgress::CallInProgress() noexcept {
  ++t_running;
  g_running.fetch_add(1);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  allowed_ = !g_end.raised();
}

CallInProgress::~CallInProgress() {
  if (allowed_) ask_to_be_called();
  g_running.fetch_sub(1);
  --t_running;
}

const CancelFlag& process_end() noexcept { return g_end; }

ActiveSession::ActiveSession(engine::Session& session) : session_(session) {
  const std::lock_guard lock(g_sessions_mutex);
  next_ = g_sessions;
  if (next_ != nullptr) next_->previous_ = this;
  g_sessions = this;
  if (g_end.raised()) session.cancel();
}

ActiveSession::~ActiveSession() {
  const std::lock_guard lock(g_sessions_mutex);
  (previous_ != nullptr ? previous_->next_ : g_sessions) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

bool process_is_over() noexcept { return g_over.load(); }

}  // namespace remora::c_api
