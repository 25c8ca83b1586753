#include "text/tags.h"

#include <algorithm>

#include "base/concat.h"
#include "io/quote.h"
#include "text/char_class.h"
#include "text/utf8.h"

namespace remora::text {
namespace {

constexpr size_t kMaxWarnings = 8;  // of each kind

bool has_letter(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (is_letter(point.value)) return true;
    at += point.length;
  }
  return false;
}

bool has_line_break(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (is_line_break(point.value)) return true;
    at += point.length;
  }
  return false;
}

// "Speaker : 1" and the like: the word in any case, then nothing but marks, blanks and a short
// name or number.
bool says_speaker(std::string_view inside) {
  constexpr std::string_view kWord = "speaker";
  constexpr size_t kMaxName = 8;
  while (!inside.empty() && (inside[0] == '|' || inside[0] == ' ')) inside.remove_prefix(1);
  if (inside.size() < kWord.size()) return false;
  const bool same = std::equal(kWord.begin(), kWord.end(), inside.begin(),
                               [](char want, char c) { return want == (c | 0x20); });
  const std::string_view rest = inside.substr(kWord.size());
  if (!same || (!rest.empty() && is_letter(code_point_at(rest, 0).value))) return false;
  size_t name = 0;
  for (size_t at = 0; at < rest.size();) {
    const CodePoint point = code_point_at(rest, at);
    at += point.length;
    if (is_letter(point.value) || is_number(point.value)) ++name;
  }
  return name > 0 && name <= kMaxName;
}

// Blanks that follow a removed part, where the text before it already ends in one.
size_t blanks_to_drop(std::string_view kept, std::string_view text, size_t at) {
  const bool blank_before = kept.empty() || kept.back() == ' ' || kept.back() == '\n';
  size_t count = 0;
  while (blank_before && at + count < text.size() && text[at + count] == ' ') ++count;
  return count;
}

std::string quoted(std::string_view text, Span span) {
  return concat("byte ", span.offset, ": '", io::printable(text.substr(span.offset, span.length)),
                "' ");
}

// Tags, and the pairs around them that are tags without them, each with all it holds.
std::vector<Span> outermost_tags(std::string_view text) {
  const std::string turned = tags_in_parentheses(text);
  std::vector<Span> tags;
  size_t open = 0, depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (turned[i] == text[i]) continue;
    if (text[i] == '[' && depth++ == 0) open = i;
    if (text[i] == ']' && --depth == 0) tags.push_back({open, i + 1 - open});
  }
  return tags;
}

void add_warnings(std::vector<std::string>& out, std::string_view text,
                  const std::vector<Span>& spans, std::string_view says) {
  for (size_t i = 0; i < std::min(spans.size(), kMaxWarnings); ++i) {
    out.push_back(concat("text: ", quoted(text, spans[i]), says));
  }
  if (spans.size() > kMaxWarnings) {
    out.push_back(concat("text: ", spans.size() - kMaxWarnings, " more of the same kind"));
  }
}

}  // namespace

std::vector<Span> find_bracket_tags(std::string_view text) {
  std::vector<Span> tags;
  size_t open = text.find('[');
  while (open != std::string_view::npos) {
    const size_t stop = text.find_first_of("[]", open + 1);
    if (stop == std::string_view::npos) break;
    const std::string_view inside = text.substr(open + 1, stop - open - 1);
    if (text[stop] == ']' && inside.size() + 2 <= kMaxTagBytes && has_letter(inside) &&
        !has_line_break(inside)) {
      tags.push_back({open, inside.size() + 2});
    }
    open = text[stop] == '[' ? stop : text.find('[', stop);
  }
  return tags;
}

std::string without_tags(std::string_view text) {
  const std::vector<Span> brackets = outermost_tags(text);
  auto bracket = brackets.begin();
  auto speaker = find_speaker_tag(text);
  std::string out;
  size_t at = 0;
  while (bracket != brackets.end() || speaker) {
    const bool bracket_first =
        bracket != brackets.end() && (!speaker || bracket->offset < speaker->offset);
    const Span tag = bracket_first ? *bracket++ : *speaker;
    if (!bracket_first) speaker = find_speaker_tag(text, tag.end());
    if (tag.offset < at) continue;  // a speaker tag inside brackets went with them
    out.append(text.substr(at, tag.offset - at));
    at = tag.end() + blanks_to_drop(out, text, tag.end());
  }
  out.append(text.substr(at));
  return out;
}

std::string tags_in_parentheses(std::string_view text) {
  std::string out(text);
  // Without its inner one an outer pair is a tag itself. Lengths stay, so the passes are as many as
  // pairs fit into kMaxTagBytes at most.
  for (auto tags = find_bracket_tags(out); !tags.empty(); tags = find_bracket_tags(out)) {
    for (const Span& tag : tags) {
      out[tag.offset] = '(';
      out[tag.end() - 1] = ')';
    }
  }
  return out;
}

std::vector<Span> find_speaker_near_misses(std::string_view text) {
  constexpr size_t kLongest = 64;
  std::vector<Span> found;
  size_t open = text.find('<');
  while (open != std::string_view::npos) {
    const size_t stop = text.find_first_of("<>", open + 1);
    if (stop == std::string_view::npos) break;
    const size_t length = stop + 1 - open;
    if (text[stop] == '>' && length <= kLongest && speaker_tag_length(text, open) == 0 &&
        says_speaker(text.substr(open + 1, length - 2))) {
      found.push_back({open, length});
    }
    open = text[stop] == '<' ? stop : text.find('<', stop);
  }
  return found;
}

std::vector<std::string> text_warnings(std::string_view text, const Tokenizer& tokenizer) {
  std::vector<std::string> out;
  add_warnings(out, text, find_speaker_near_misses(text),
               "is no speaker tag but text; a tag is written <|speaker:0|>, exactly so");
  add_warnings(out, text, tokenizer.find_control_tokens(text),
               "is read as letters, not as a control token");
  return out;
}

}  // namespace remora::text
