// What users write into a text besides words: [tags], speaker tags, and near misses of both.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/speaker_tag.h"
#include "text/tokenizer.h"

namespace remora::text {

// What square brackets mean. To the tokenizers they are ordinary characters either way; S2 models
// take "[whisper]" for an instruction and do not say it.
enum class Brackets { kTags, kText };

inline constexpr size_t kMaxTagBytes = 200;

// [tags] of valid UTF-8, in order: from '[' to the next ']' on the same line, no '[' between them,
// at most kMaxTagBytes with the brackets, at least one letter inside. So "[sic]" is one; "[4]",
// "[...]" and an unclosed '[' are text.
std::vector<Span> find_bracket_tags(std::string_view text);

// `text` without its [tags] and speaker tags, for display; of the blanks on both sides of a tag one
// side is left. A pair of brackets around a tag is a tag once that is taken out, so it goes as
// well:
// "[a [b] c]" leaves nothing.
std::string without_tags(std::string_view text);

// `text` with the brackets of its [tags] turned into parentheses: for someone who wants "[sic]"
// said. The result has no [tags]: of "[a [b] c]" both pairs are turned.
std::string tags_in_parentheses(std::string_view text);

// Parts that look like a speaker tag and are none: <|speaker: 1|>, <speaker:1>, <|Speaker:1|>. They
// are ordinary text to the model.
std::vector<Span> find_speaker_near_misses(std::string_view text);

// One line for each near miss and each typed control token (said as letters), the first few of
// them: worth showing to whoever wrote the text. `text` must be valid UTF-8.
std::vector<std::string> text_warnings(std::string_view text, const Tokenizer& tokenizer);

}  // namespace remora::text
