// Unicode normalisation form C, where a tokenizer asks for it.
#pragma once

#include <string>
#include <string_view>

namespace remora::text {

// True when no code point of `text` can change under NFC: all lie below U+0300. May be false for
// text that is in form C already.
bool is_surely_nfc(std::string_view text);

// NFC of valid UTF-8. Linear but for sorting runs of combining marks, so a long run of marks takes
// O(n log n).
std::string to_nfc(std::string_view text);

}  // namespace remora::text
