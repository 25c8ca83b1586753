// The rule for white space in text to be spoken, and what counts as something to say.
#pragma once

#include <string>
#include <string_view>

#include "text/tags.h"

namespace remora::text {

// The one rule, applied to spoken text unless the caller wants the raw text:
//  - a run of white space of any kind (blanks, tabs, line ends in every convention, blank lines,
//    no-break and wide spaces) becomes one ASCII space, none at the start and the end;
//  - characters that have neither sound nor shape are dropped: zero-width space U+200B, word joiner
//    U+2060, byte order mark U+FEFF, soft hyphen U+00AD, control characters, U+FFFE and U+FFFF;
//  - everything else stays as it is: numbers, punctuation, case, and the joiners U+200C and U+200D
//    that hold letters and emoji together.
// So an indented, wrapped or badly pasted sentence gives the same ids as on one line. `text` must
// be valid UTF-8.
std::string clean_text(std::string_view text);

// True when `text` has a letter or a number outside speaker tags and (with kTags) [tags]. Blanks,
// punctuation, signs and emoji alone are nothing to say: the models have no sound for them and
// would make one up.
bool has_something_to_say(std::string_view text, Brackets brackets = Brackets::kTags);

}  // namespace remora::text
