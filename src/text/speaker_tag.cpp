#include "text/speaker_tag.h"

#include "text/char_class.h"
#include "text/utf8.h"

namespace remora::text {
namespace {

constexpr std::string_view kOpen = "<|speaker:";
constexpr std::string_view kClose = "|>";

}  // namespace

size_t speaker_tag_length(std::string_view text, size_t offset) {
  if (!text.substr(offset).starts_with(kOpen)) return 0;
  const size_t digits = offset + kOpen.size();
  size_t at = digits;
  while (at < text.size()) {
    const CodePoint point = code_point_at(text, at);
    if (!is_digit(point.value)) break;
    at += point.length;
  }
  if (at == digits || !text.substr(at).starts_with(kClose)) return 0;
  return at + kClose.size() - offset;
}

std::optional<Span> find_speaker_tag(std::string_view text, size_t from) {
  for (size_t at = text.find(kOpen, from); at != std::string_view::npos;
       at = text.find(kOpen, at + 1)) {
    if (const size_t length = speaker_tag_length(text, at)) return Span{at, length};
  }
  return std::nullopt;
}

}  // namespace remora::text
