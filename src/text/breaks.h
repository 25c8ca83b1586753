// Where a text may be cut, and how well.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/tags.h"

namespace remora::text {

// From worst to best.
enum class BreakLevel : uint8_t {
  kGrapheme,   // inside a word, between what is seen as two characters
  kCharacter,  // between two characters of a script without spaces
  kSpace,
  kLine,    // a line end
  kClause,  // behind a comma, a colon, a dash, or a dot before a lower-case word
  kSentence,
  kParagraph,  // a blank line
};

struct Break {
  uint32_t end;   // where the part before the cut ends, white space not counted
  uint32_t next;  // where the part behind it begins; equal to `end` without white space between
  uint32_t size;  // bytes from the first visible character to `end`, each run of white space as one
  BreakLevel level;
};

struct Breaks {
  std::vector<Break> places;
  uint32_t size = 0;  // of the whole text, as Break::size counts
};

// Every place where `text` (valid UTF-8, under 4 GB) may be cut, in order: never inside a joined
// emoji or another grapheme cluster, nor inside a protected span of at most `max_protected` bytes
// (see protected_spans.h). Tags stay with what follows them, a [tag] at the end of a paragraph
// with what comes before. No break stands before the first or behind the last visible character.
// Linear.
Breaks find_breaks(std::string_view text, Brackets brackets, size_t max_protected);

}  // namespace remora::text
