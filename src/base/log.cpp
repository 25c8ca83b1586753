#include "base/log.h"

#include <atomic>
#include <mutex>
#include <shared_mutex>

namespace remora {
namespace {

struct Sink {
  LogSink call = nullptr;
  void* user = nullptr;
};

// Never destroyed: worker threads may log while the process exits.
std::shared_mutex& sink_mutex() {
  static auto& mutex = *new std::shared_mutex;
  return mutex;
}
Sink g_sink;
std::atomic<int32_t> g_max_level{-1};

}  // namespace

void set_log_sink(LogSink sink, void* user, LogLevel max_level) {
  const std::unique_lock lock(sink_mutex());
  g_sink = {sink, user};
  g_max_level.store(sink != nullptr ? static_cast<int32_t>(max_level) : -1);
}

bool log_enabled(LogLevel level) noexcept {
  return static_cast<int32_t>(level) <= g_max_level.load(std::memory_order_relaxed);
}

void log(LogLevel level, std::string_view text) noexcept {
  if (!log_enabled(level)) return;
  const std::shared_lock lock(sink_mutex());
  if (g_sink.call == nullptr) return;
  g_sink.call(g_sink.user, static_cast<int32_t>(level), text.data(), text.size());
}

}  // namespace remora
