// The buffer protocol of the ABI: capacity in, needed out, nothing written when it does not fit.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "base/concat.h"
#include "base/error.h"
#include "c_api/guard.h"
#include "remora/remora.h"

namespace remora::c_api {

// Whether the caller only asks for the size (NULL with capacity 0). Sets *needed (optional) and
// throws Error{kBufferTooSmall} when there is too little room.
inline bool asks_size(const void* dst, size_t capacity, size_t size, size_t* needed,
                      std::string_view name) {
  if (needed != nullptr) *needed = size;
  if (dst == nullptr && capacity == 0) return true;
  if (dst == nullptr) {
    throw Error(Status::kInvalidArgument, concat(name, ": is NULL with capacity ", capacity,
                                                 "; give a buffer or capacity 0"));
  }
  if (capacity < size) {
    throw Error(Status::kBufferTooSmall,
                concat(name, ": has room for ", capacity, " elements, ", size, " are needed"));
  }
  return false;
}

template <typename T>
remora_status copy_out(std::span<const T> from, T* dst, size_t capacity, size_t* needed,
                       std::string_view name) {
  if (!asks_size(dst, capacity, from.size(), needed, name)) {
    std::copy(from.begin(), from.end(), dst);
  }
  return REMORA_OK;
}

// A text argument: NULL is allowed for zero bytes only.
inline std::string_view text_from(const char* utf8, uint64_t length, std::string_view name) {
  if (utf8 == nullptr) {
    if (length == 0) return {};
    throw Error(Status::kInvalidArgument, concat(name, ": is NULL; give UTF-8 text"));
  }
  if (length == static_cast<uint64_t>(REMORA_NUL_TERMINATED)) return utf8;
  if (length > static_cast<uint64_t>(PTRDIFF_MAX)) {
    throw Error(Status::kInvalidArgument,
                concat(name, ": a length of ", length, " is not possible"));
  }
  return {utf8, static_cast<size_t>(length)};
}

// n * each, or Error{kInvalidArgument} when that overflows what memory can hold.
inline size_t checked_count(size_t n, size_t each, std::string_view name) {
  size_t total = 0;
  if (__builtin_mul_overflow(n, each, &total) || total > PTRDIFF_MAX / sizeof(float)) {
    throw Error(Status::kInvalidArgument, concat(name, ": ", n, " is impossibly large"));
  }
  return total;
}

}  // namespace remora::c_api
