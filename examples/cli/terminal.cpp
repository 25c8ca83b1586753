#include "terminal.h"

#include <remora/remora.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdio>

#include "failure.h"

namespace remora::cli {
namespace {

constexpr std::chrono::milliseconds kProgressInterval(100);

void REMORA_CALL on_log(void*, remora_log_level level, const char* utf8, size_t len) {
  static constexpr std::array<const char*, 4> kNames = {"error", "warning", "info", "debug"};
  const bool known = level >= 0 && level < static_cast<int>(kNames.size());
  note(std::string(known ? kNames[level] : "log") + ": " + std::string(utf8, len));
}

}  // namespace

void note(const std::string& text) {
  const std::string line = "remora: " + text + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void show_library_log(bool verbose) {
  check(remora_set_log(on_log, nullptr, verbose ? REMORA_LOG_DEBUG : REMORA_LOG_WARN));
}

Progress::Progress() : on_terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  if (width_ > 0) std::fprintf(stderr, "\r%*s\r", static_cast<int>(width_), "");
  width_ = 0;
}

void Progress::show(const std::string& text) {
  const auto now = std::chrono::steady_clock::now();
  if (!on_terminal_ || now - last_ < kProgressInterval) return;
  last_ = now;
  const std::string padding(width_ > text.size() ? width_ - text.size() : 0, ' ');
  std::fprintf(stderr, "\r%s%s", text.c_str(), padding.c_str());
  std::fflush(stderr);
  width_ = text.size();
}

void Progress::show(const std::string& doing, double fraction) {
  show(doing + " " + fixed(100 * fraction, 0) + " %");
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

std::string fixed(double value, int digits) {
  std::array<char, 400> buffer;  // the longest double with a few digits behind the point
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                    std::chars_format::fixed, digits);
  return std::string(buffer.data(), result.ptr);
}

}  // namespace remora::cli
