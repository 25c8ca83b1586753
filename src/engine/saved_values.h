// Values of a saved session, checked where they are read: the checksum finds damage, not malice,
// and a number that no session can hold must be refused before anything works with it.
//
// All throw Error{kFormat} "session state: <what> ..."; `what` names the field.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/error.h"

namespace remora::engine {

[[noreturn]] void refuse_state(std::string_view reason);

// Lowest to highest, both included.
int64_t checked_number(int64_t value, int64_t lowest, int64_t highest, std::string_view what);

// An enumeration written as int32_t, whose values are 0 to `last`.
template <typename Enum>
Enum read_enum(ByteReader& in, Enum last, std::string_view what) {
  return static_cast<Enum>(
      checked_number(in.value<int32_t>(), 0, static_cast<int32_t>(last), what));
}

std::string read_utf8(ByteReader& in, std::string_view what);

// Whole frames of `rows` codes, each 0 to entries - 1.
std::vector<int32_t> read_codes(ByteReader& in, int64_t rows, int64_t entries,
                                std::string_view what);

// What `body` refuses as an argument is a value that could not have been saved.
template <typename Body>
auto as_saved(Body&& body) {
  try {
    return body();
  } catch (const Error& error) {
    if (error.status() != Status::kInvalidArgument) throw;
    refuse_state(error.text());
  }
}

}  // namespace remora::engine
