// The one error type used inside the library.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace remora {

// Values equal REMORA_* in remora.h; c_api checks that at compile time.
enum class Status : int32_t {
  kOk = 0,
  kEnd = 1,
  kInvalidArgument = -1,
  kInvalidState = -2,
  kBusy = -3,
  kCancelled = -4,
  kOutOfMemory = -5,
  kIo = -6,
  kFormat = -7,
  kUnsupported = -8,
  kBufferTooSmall = -9,
  kContextFull = -10,
  kDevice = -11,
  kAbi = -12,
  kCallback = -13,
  kForked = -14,
  kNumeric = -15,
  kInternal = -16,
};

// Symbolic name such as "REMORA_E_IO"; "REMORA_E_UNKNOWN" for a value outside the enum.
std::string_view status_name(int32_t status) noexcept;

// Thrown inside, caught by the guard of c_api; never leaves the library.
// The text reads `what, where, what to do`.
class Error : public std::exception {
 public:
  Error(Status status, std::string text) : status_(status), text_(std::move(text)) {}
  Status status() const noexcept { return status_; }
  const char* what() const noexcept override { return text_.c_str(); }
  const std::string& text() const noexcept { return text_; }

 private:
  Status status_;
  std::string text_;
};

}  // namespace remora
