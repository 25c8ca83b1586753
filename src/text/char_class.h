// What kind of character a code point is, as the text rules need it.
#pragma once

#include <string_view>

namespace remora::text {

// White space in the wide sense: blanks of every width, no-break spaces, tab, line and page ends
// and U+001C to U+001F. Zero-width characters are none.
bool is_space(char32_t c);

// LF, VT, FF, CR, NEL, U+2028, U+2029 and U+001C to U+001E: where a line ends.
bool is_line_break(char32_t c);

bool is_letter(char32_t c);     // general category L
bool is_cased(char32_t c);      // general category Lu, Ll or Lt
bool is_lowercase(char32_t c);  // general category Ll
bool is_digit(char32_t c);      // general category Nd: decimal digits of any script
bool is_number(char32_t c);     // general category N: also fractions, Roman numerals, ...
bool is_mark(char32_t c);       // general category M: combining marks

// Han, Kana, Bopomofo and their full-width punctuation: scripts written without spaces, whose
// sentence marks need no blank behind them.
bool is_cjk(char32_t c);

// Without white space (is_space) at both ends. `text` must be valid UTF-8.
std::string_view trim(std::string_view text);

}  // namespace remora::text
