// The printable alphabet in which tokenizer.json writes bytes: 0x21-0x7E, 0xA1-0xAC and 0xAE-0xFF
// stand for themselves, the other 68 bytes in ascending order for U+0100, U+0101, ...
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace remora::text {

// The bytes that `written` (valid UTF-8) stands for; nothing when it has a character outside the
// alphabet.
std::optional<std::string> bytes_from_alphabet(std::string_view written);

}  // namespace remora::text
