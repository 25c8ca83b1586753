// How a command ends early: an exit code and one line for the person at the terminal.
#pragma once

#include <remora/remora.h>

#include <stdexcept>
#include <string>

namespace remora::cli {

enum ExitCode : int {
  kDone = 0,
  kError = 1,
  kUsage = 2,
  kLimit = 3,          // stopped at a length limit or a full context; what was written is valid
  kInterrupted = 130,  // as the shell reports a program that SIGINT ended
};

// The text reads `what, where, what to do`, without "remora: " in front.
class Failure : public std::runtime_error {
 public:
  Failure(ExitCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

// Throws a Failure with the library's error text when `status` is an error. REMORA_E_CANCELLED
// becomes kInterrupted: nothing but Ctrl-C cancels here.
void check(remora_status status);

// The same with the file's name in front, for texts that cannot know it.
void check_file(const std::string& path, remora_status status);

}  // namespace remora::cli
