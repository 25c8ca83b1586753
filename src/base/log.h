// The process-wide log: silent until the host installs a sink.
#pragma once

#include <cstdint>
#include <string_view>

namespace remora {

enum class LogLevel : int32_t { kError = 0, kWarn = 1, kInfo = 2, kDebug = 3 };

using LogSink = void (*)(void* user, int32_t level, const char* utf8, size_t len);

// `sink` null silences the log. Thread-safe; a call in progress on another thread may still end
// with the old sink before this returns, never after.
void set_log_sink(LogSink sink, void* user, LogLevel max_level);

// True when a message of this level would reach a sink: check before building a costly text.
bool log_enabled(LogLevel level) noexcept;

void log(LogLevel level, std::string_view text) noexcept;

}  // namespace remora
