// Whether this build is watched by AddressSanitizer or ThreadSanitizer: it is many times as slow,
// and its memory is the sanitizer's.
#pragma once

namespace remora::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace remora::test
