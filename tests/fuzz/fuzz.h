// What the fuzz targets share: bytes as text, and the one exception that bad input may raise.
//
// A target is one function, LLVMFuzzerTestOneInput(). What it may throw at itself is remora::Error;
// any other exception, a failed require(), a sanitizer's report, too much memory or time is a
// finding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/concat.h"
#include "base/error.h"

namespace remora::fuzz {

// True when `body` came to its end, false when it refused its input.
template <typename Body>
bool accepts(Body&& body) {
  try {
    body();
    return true;
  } catch (const Error& error) {
    if (error.status() == Status::kInternal) throw;
    return false;
  }
}

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

}  // namespace remora::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
