// Text with speaker tags as turns, and turns as batches: what one prompt carries.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "text/speaker_tag.h"

namespace remora::text {

// One speaker's stretch of a text: from its tag (none at the start of a text that begins without)
// to the next one.
struct Turn {
  Span span;       // the whole stretch, blanks included: turns follow one another without gap
  size_t tag = 0;  // bytes of the tag at the start of `text`, 0 without
  std::string_view text;  // trimmed at both ends, tag included
};

// What becomes of text before the first tag.
enum class LeadingText {
  kOwnTurn,  // a turn without tag, unless it is blank
  kDropped,  // lost, as the reference implementation does: for comparing with it only
};

// Turns in order; empty where the text has no tag at all. `text` must be valid UTF-8; the turns
// view it. With kOwnTurn blanks before the first tag belong to that tag's turn, so the spans cover
// the text.
std::vector<Turn> split_turns(std::string_view text, LeadingText leading = LeadingText::kOwnTurn);

inline constexpr size_t kMaxTurnsPerBatch = 5;

// Groups texts of turns greedily: a turn starts a new batch when the current one has
// kMaxTurnsPerBatch turns or would exceed `max_bytes` UTF-8 bytes (separators not counted). A
// longer turn is a batch by itself. Returns the number of turns of each batch.
std::vector<size_t> group_turns(const std::vector<Turn>& turns, size_t max_bytes);

// The texts of the batches: turns joined by newlines; the whole text, unchanged, when it has no
// tag.
std::vector<std::string> batch_texts(std::string_view text, size_t max_bytes,
                                     LeadingText leading = LeadingText::kOwnTurn);

}  // namespace remora::text
