// Reading and writing the size-headed structs of the ABI.
#pragma once

#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/concat.h"
#include "base/error.h"

namespace remora::c_api {

// A caller built against another version has a shorter or longer struct. Shorter: the missing
// fields take their defaults. Longer: allowed while the unknown tail is zero, because then nothing
// is asked for that this library does not know.
constexpr uint32_t kSmallestStruct = 8;

inline void check_struct_size(uint32_t struct_size, std::string_view name) {
  if (struct_size < kSmallestStruct) {
    throw Error(Status::kAbi, concat(name, ".struct_size: is ", struct_size,
                                     "; call the struct's init function with sizeof first"));
  }
}

// The caller's struct laid over `defaults`.
template <typename Struct>
Struct read_struct(const Struct* from, Struct defaults, std::string_view name) {
  if (from == nullptr) return defaults;
  const uint32_t size = from->struct_size;
  check_struct_size(size, name);
  const auto* bytes = reinterpret_cast<const unsigned char*>(from);
  const bool zero_tail =
      size <= sizeof(Struct) || std::all_of(bytes + sizeof(Struct), bytes + size,
                                            [](unsigned char byte) { return byte == 0; });
  if (!zero_tail) {
    throw Error(Status::kAbi, concat(name, ".struct_size: is ", size, " with fields set that this ",
                                     "library (", sizeof(Struct), " bytes) does not know"));
  }
  std::memcpy(&defaults, from, std::min<size_t>(size, sizeof(Struct)));
  defaults.struct_size = sizeof(Struct);
  return defaults;
}

// Fills the caller's struct as far as it reaches, zeroes what lies beyond our own fields, and keeps
// the caller's struct_size.
template <typename Struct>
void write_struct(Struct* to, const Struct& from, uint32_t struct_size, std::string_view name) {
  check_struct_size(struct_size, name);
  std::memset(static_cast<void*>(to), 0, struct_size);
  std::memcpy(static_cast<void*>(to), &from, std::min<size_t>(struct_size, sizeof(Struct)));
  to->struct_size = struct_size;
}

}  // namespace remora::c_api
