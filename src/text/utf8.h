// UTF-8: strict checking and stepping over code points.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace remora::text {

// Where bytes stop being UTF-8 and why, such as "overlong form".
struct Utf8Fault {
  size_t offset = 0;  // bytes from the start
  std::string_view reason;
};

// The first fault, or nothing for valid UTF-8 (Unicode's table 3-7: no overlong forms, no
// surrogates, nothing above U+10FFFF, no sequence that is cut). U+0000 is a valid code point.
std::optional<Utf8Fault> find_utf8_fault(std::string_view bytes);

// A NUL inside a text with an explicit length is valid UTF-8, but in text to be spoken it is nearly
// always UTF-16 or a length that is too long.
enum class Nul { kAllowed, kRefused };

// Throws Error{kInvalidArgument} "text: byte 17 is not valid UTF-8 (...)"; `what` names the field.
void require_utf8(std::string_view bytes, Nul nul, std::string_view what = "text");

// Without a byte order mark (EF BB BF) at the start.
std::string_view drop_bom(std::string_view bytes);

struct CodePoint {
  char32_t value = 0;
  size_t length = 0;  // bytes, 1 to 4
};

// The code point at `offset` of valid UTF-8; offset < text.size() and at a code point's start.
inline CodePoint code_point_at(std::string_view text, size_t offset) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[offset + i]); };
  const char32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  if (lead < 0xE0) return {(lead & 0x1F) << 6 | (byte(1) & 0x3Fu), 2};
  if (lead < 0xF0) return {(lead & 0x0F) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu), 3};
  return {
      (lead & 0x07) << 18 | (byte(1) & 0x3Fu) << 12 | (byte(2) & 0x3Fu) << 6 | (byte(3) & 0x3Fu),
      4};
}

// The code point that ends right before `end` of valid UTF-8; 0 < end <= text.size().
CodePoint code_point_before(std::string_view text, size_t end);

// `code_point` must be a Unicode scalar value.
void append_utf8(std::string& out, char32_t code_point);

// Every maximal part that is not UTF-8 becomes one U+FFFD, as Unicode recommends.
std::string replace_invalid_utf8(std::string bytes);

}  // namespace remora::text
