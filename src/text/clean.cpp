#include "text/clean.h"

#include "text/char_class.h"
#include "text/utf8.h"

namespace remora::text {
namespace {

bool is_silent_shapeless(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c <= 0x9F) || c == 0xAD || c == 0x200B || c == 0x2060 ||
         c == 0xFEFF || c == 0xFFFE || c == 0xFFFF;
}

}  // namespace

std::string clean_text(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool blank = false;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (is_space(point.value)) {
      blank = true;
    } else if (!is_silent_shapeless(point.value)) {
      if (blank && !out.empty()) out.push_back(' ');
      blank = false;
      out.append(text.substr(at, point.length));
    }
    at += point.length;
  }
  return out;
}

bool has_something_to_say(std::string_view text, Brackets brackets) {
  const std::vector<Span> tags =
      brackets == Brackets::kTags ? find_bracket_tags(text) : std::vector<Span>{};
  auto tag = tags.begin();
  for (size_t at = 0; at < text.size();) {
    while (tag != tags.end() && tag->offset < at) ++tag;
    if (tag != tags.end() && tag->offset == at) {
      at = tag->end();
      continue;
    }
    if (text[at] == '<') {
      if (const size_t length = speaker_tag_length(text, at)) {
        at += length;
        continue;
      }
    }
    const CodePoint point = code_point_at(text, at);
    if (is_letter(point.value) || is_number(point.value)) return true;
    at += point.length;
  }
  return false;
}

}  // namespace remora::text
