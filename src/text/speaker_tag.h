// The speaker tag <|speaker:N|>, N decimal digits of any script: ordinary text to the tokenizers,
// a mark of who speaks to the prompt.
#pragma once

#include <optional>
#include <string_view>

namespace remora::text {

struct Span {
  size_t offset = 0;  // bytes
  size_t length = 0;
  size_t end() const { return offset + length; }
};

// The length of the tag that begins at `offset` of valid UTF-8, 0 where none does.
size_t speaker_tag_length(std::string_view text, size_t offset);

// The first tag that begins at or after `from`.
std::optional<Span> find_speaker_tag(std::string_view text, size_t from = 0);

}  // namespace remora::text
