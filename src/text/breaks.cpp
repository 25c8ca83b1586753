#include "text/breaks.h"

#include <utf8proc.h>

#include <utility>

#include "text/char_class.h"
#include "text/protected_spans.h"
#include "text/utf8.h"

namespace remora::text {
namespace {

enum class Mark : uint8_t {
  kNone,
  kCloser,       // a quote or bracket that belongs to the mark before it
  kClause,       // ends a clause where a blank follows
  kClauseTight,  // ends one without a blank
  kStop,         // ends a sentence where a blank follows
  kStopTight,
};

// Ellipsis, double and combined marks.
constexpr std::u32string_view kStops = U"\u2026\u203d\u2047\u2048\u2049";
// CJK, Arabic, Devanagari, Armenian, Tibetan, Myanmar, Ethiopic, Khmer.
constexpr std::u32string_view kTightStops =
    U"\u3002\uff01\uff1f\uff61\uff0e"
    U"\u061f\u06d4\u0964\u0965\u0589\u0f0d\u104b\u1362\u1367\u17d4\u17d5";
constexpr std::u32string_view kTightClauses =
    U"\u3001\uff0c\uff1b\uff1a\uff64\u060c\u061b\u104a\u1363\u17d6\u2014";
// Closing quotes and brackets, Latin and full-width.
constexpr std::u32string_view kClosers =
    U"\u00bb\u201d\u2019\u203a"
    U"\u300d\u300f\uff09\u3011\u300b\u3009\u3015\uff3d\uff5d\uff63";

constexpr bool is_one_of(std::u32string_view set, char32_t c) {
  return set.find(c) != std::u32string_view::npos;
}

Mark mark_of(char32_t c) {
  if (c < 0x80) {
    switch (c) {
      case '.':
      case '!':
      case '?':
        return Mark::kStop;
      case ',':
      case ';':
      case ':':
        return Mark::kClause;
      case '"':
      case '\'':
      case ')':
      case ']':
      case '}':
        return Mark::kCloser;
      default:
        return Mark::kNone;
    }
  }
  if (is_one_of(kStops, c)) return Mark::kStop;
  if (is_one_of(kTightStops, c)) return Mark::kStopTight;
  if (is_one_of(kTightClauses, c)) return Mark::kClauseTight;
  if (c == 0x2013) return Mark::kClause;  // en dash
  if (is_one_of(kClosers, c)) return Mark::kCloser;
  return Mark::kNone;
}

// Japanese signs that lengthen or repeat the character before them.
bool continues_character(char32_t c) {
  return is_one_of(U"\u30fc\u3005\u309d\u309e\u30fd\u30fe", c);
}

// True at offset i where a grapheme cluster begins.
std::vector<bool> grapheme_starts(std::string_view text) {
  std::vector<bool> starts(text.size() + 1, false);
  utf8proc_int32_t state = 0;
  utf8proc_int32_t previous = -1;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    const auto current = static_cast<utf8proc_int32_t>(point.value);
    starts[at] = previous < 0 || utf8proc_grapheme_break_stateful(previous, current, &state);
    previous = current;
    at += point.length;
  }
  return starts;
}

class BreakFinder {
 public:
  BreakFinder(std::string_view text, Brackets brackets, size_t max_protected)
      : text_(text),
        spans_(find_protected_spans(text, brackets, max_protected)),
        starts_(grapheme_starts(text)) {}

  Breaks find() {
    auto span = spans_.begin();
    while (at_ < text_.size()) {
      if (span != spans_.end() && span->span.offset == at_) {
        pass_span(*span++);
      } else if (const CodePoint point = code_point_at(text_, at_); is_space(point.value)) {
        pass_blanks();
      } else {
        pass_character(point);
      }
    }
    return {std::move(breaks_), static_cast<uint32_t>(at_ - uncounted_ - trailing_)};
  }

 private:
  // White space up to the next visible character: where it ends and how many lines it ends.
  struct Blanks {
    size_t end = 0;
    int lines = 0;
  };
  Blanks blanks_from(size_t at) const {
    Blanks blanks{at, 0};
    char32_t previous = 0;
    while (blanks.end < text_.size()) {
      const CodePoint point = code_point_at(text_, blanks.end);
      if (!is_space(point.value)) break;
      if (point.value == 0x2029) blanks.lines += 2;  // paragraph separator
      if (is_line_break(point.value) && !(previous == '\r' && point.value == '\n')) ++blanks.lines;
      previous = point.value;
      blanks.end += point.length;
    }
    return blanks;
  }

  // A run of white space counts as one byte, at the ends of the text as none.
  void skip_blanks(size_t end) {
    const size_t counted = seen_ && end > at_ ? 1 : 0;
    uncounted_ += end - at_ - counted;
    if (end == text_.size()) trailing_ = counted;
    at_ = end;
  }

  void pass_span(const ProtectedSpan& protected_span) {
    const size_t end = protected_span.span.end();
    // A tag counts as the start of what follows it, so a stop before it needs no blank.
    const bool is_tag = protected_span.kind != SpanKind::kOpaque;
    break_before(at_, is_tag || is_tight(), false);
    at_ = end;
    pending_ = Mark::kNone;
    previous_ = 0;
    seen_ = true;
    glued_ = false;
    after_short_number_ =
        protected_span.span.length <= 2 && is_digit(code_point_before(text_, end).value);
    if (!is_tag) return;
    const Blanks blanks = blanks_from(end);
    const bool paragraph = blanks.lines > 1 && protected_span.kind == SpanKind::kBracketTag;
    if (blanks.end == text_.size() || paragraph) {
      // Nothing to belong to: stays with what comes before.
      if (!breaks_.empty() && breaks_.back().next == protected_span.span.offset &&
          breaks_.back().level < BreakLevel::kParagraph) {
        breaks_.pop_back();
      }
    } else {
      skip_blanks(blanks.end);
      glued_ = true;
    }
  }

  void pass_blanks() {
    const size_t begin = at_;
    const Blanks blanks = blanks_from(at_);
    skip_blanks(blanks.end);
    previous_ = ' ';
    after_short_number_ = false;
    const Mark mark = std::exchange(pending_, Mark::kNone);
    if (!seen_ || at_ == text_.size() || !starts_[at_]) return;
    BreakLevel level = BreakLevel::kSpace;
    if (blanks.lines > 0) level = BreakLevel::kLine;
    if (mark == Mark::kClause || mark == Mark::kClauseTight) level = BreakLevel::kClause;
    if (mark == Mark::kStopTight) level = BreakLevel::kSentence;
    if (mark == Mark::kStop) {
      const bool goes_on = is_lowercase(code_point_at(text_, at_).value);
      level = goes_on ? BreakLevel::kClause : BreakLevel::kSentence;
    }
    if (blanks.lines > 1) level = BreakLevel::kParagraph;
    add(begin, at_, level);
  }

  void pass_character(const CodePoint& point) {
    Mark mark = mark_of(point.value);
    // "3. January", "1. Bread": hardly ever the end of a sentence.
    if (mark == Mark::kStop && after_short_number_) mark = Mark::kClause;
    if (mark == Mark::kNone) {
      const bool cjk = is_cjk(point.value);
      const bool characters = (cjk || is_cjk(previous_)) && is_letter(previous_) &&
                              is_letter(point.value) && !continues_character(point.value);
      break_before(at_, is_tight() || cjk, characters);
    }
    if (mark != Mark::kCloser) pending_ = mark;
    seen_ = true;
    glued_ = false;
    after_short_number_ = false;
    previous_ = point.value;
    at_ += point.length;
  }

  bool is_tight() const { return pending_ == Mark::kStopTight || pending_ == Mark::kClauseTight; }

  // A cut right before `at`, without white space. `mark_counts`: the mark before it needs no blank.
  void break_before(size_t at, bool mark_counts, bool characters) {
    const bool after_blank = !breaks_.empty() && breaks_.back().next == at;
    if (!seen_ || after_blank || previous_ == ' ' || glued_ || !starts_[at]) return;
    BreakLevel level = characters ? BreakLevel::kCharacter : BreakLevel::kGrapheme;
    if (mark_counts && (pending_ == Mark::kStop || pending_ == Mark::kStopTight)) {
      level = BreakLevel::kSentence;
    } else if (mark_counts && (pending_ == Mark::kClause || pending_ == Mark::kClauseTight)) {
      level = BreakLevel::kClause;
    }
    add(at, at, level);
  }

  void add(size_t end, size_t next, BreakLevel level) {
    // Of the white space behind `end`, what was left out does not count before it either.
    const size_t size = end - uncounted_ + (next > end ? next - end - 1 : 0);
    breaks_.push_back({static_cast<uint32_t>(end), static_cast<uint32_t>(next),
                       static_cast<uint32_t>(size), level});
  }

  std::string_view text_;
  std::vector<ProtectedSpan> spans_;
  std::vector<bool> starts_;
  std::vector<Break> breaks_;
  size_t at_ = 0;
  size_t uncounted_ = 0;             // bytes of white space so far that sizes leave out
  size_t trailing_ = 0;              // counted bytes of white space at the very end
  Mark pending_ = Mark::kNone;       // the mark, closers aside, that ends right here
  char32_t previous_ = 0;            // the character before, ' ' for any white space, 0 for a span
  bool seen_ = false;                // something visible lies before
  bool glued_ = false;               // a tag lies right before and takes what follows
  bool after_short_number_ = false;  // one or two digits lie right before
};

}  // namespace

Breaks find_breaks(std::string_view text, Brackets brackets, size_t max_protected) {
  return BreakFinder(text, brackets, max_protected).find();
}

}  // namespace remora::text
