// What a person sees: notes and progress, always on stderr.
#pragma once

#include <chrono>
#include <string>

namespace remora::cli {

// One line, "remora: " in front.
void note(const std::string& text);

// Passes the library's warnings on, and all it has to say when `verbose`.
void show_library_log(bool verbose);

// A line that is rewritten in place while it lives, on a terminal only.
class Progress {
 public:
  Progress();
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const std::string& text);
  void show(const std::string& doing, double fraction);
  void clear();

 private:
  bool on_terminal_;
  size_t width_ = 0;  // of what stands there now
  std::chrono::steady_clock::time_point last_;
};

double milliseconds_since(std::chrono::steady_clock::time_point start);

// With `digits` behind the point, whatever the locale.
std::string fixed(double value, int digits);

}  // namespace remora::cli
