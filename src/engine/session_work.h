// What the source files of Session share: the clock, and the rule of what a failure leaves behind.
#pragma once

#include <chrono>
#include <cstdint>
#include <utility>

#include "base/error.h"
#include "engine/session.h"

namespace remora::engine {

// Frames that max_frames_per_byte leaves to any text, however short: about three seconds.
inline constexpr int64_t kFramesForAnyText = 64;

inline uint64_t now_ns() {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

// Adds the time it lives to `total`.
class Stopwatch {
 public:
  explicit Stopwatch(uint64_t& total) : total_(total), start_(now_ns()) {}
  ~Stopwatch() { total_ += now_ns() - start_; }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  uint64_t& total_;
  uint64_t start_;
};

// Runs work after which a failure leaves the session unusable until reset.
template <typename Body>
auto Session::working(Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    // A refused argument has harmed nothing but the request it came with.
    const bool refused = error.status() == Status::kInvalidArgument;
    at_.phase = refused ? Phase::kIdle : Phase::kFailed;
    at_.stats.finish = error.status() == Status::kCancelled ? Finish::kCancelled : Finish::kError;
    throw;
  } catch (...) {
    at_.phase = Phase::kFailed;
    at_.stats.finish = Finish::kError;
    throw;
  }
}

}  // namespace remora::engine
