// Abbreviations whose dot does not end a sentence.
#pragma once

#include <cstddef>
#include <string_view>

namespace remora::text {

// The length in bytes of the abbreviation, dot included, that begins at `offset` of valid UTF-8, 0
// where none does: known ones ("Dr.", "bzw."), initials ("J."), dotted ones ("e.g.", "U.S.A.",
// "z. B."), and those that are one only before a number ("No. 6"). `offset` must be the start of a
// word.
//
// A dot before a lower-case word never ends a sentence, so only abbreviations that stand before
// names, numbers or (German) nouns need to be known.
size_t abbreviation_length(std::string_view text, size_t offset);

}  // namespace remora::text
