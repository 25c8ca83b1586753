#include "text/protected_spans.h"

#include "text/abbreviations.h"
#include "text/char_class.h"
#include "text/utf8.h"

namespace remora::text {
namespace {

// Inside a URL or a mail address. Scripts without spaces end it, so that it need not be set off.
bool is_url_char(char32_t c) {
  if (c <= 0x20 || c == 0x7F) return false;
  if (c < 0x80)
    return std::string_view("\"<>[]{}`\\^|").find(static_cast<char>(c)) == std::string_view::npos;
  return !is_cjk(c) && (is_letter(c) || is_number(c) || is_mark(c));
}

// Punctuation at the end of a URL belongs to the sentence around it.
bool is_trailing_mark(char c) {
  return std::string_view(".,;:!?'()*").find(c) != std::string_view::npos;
}

bool is_currency_or_sign(char32_t c) {
  return c == '$' || c == '+' || c == '-' || c == '#' || c == 0xA3 || c == 0xA5 || c == 0xB1 ||
         (c >= 0x20A0 && c <= 0x20CF) || c == 0x2212 || c == 0x2116;
}

bool is_number_separator(char32_t c) {
  return c == '.' || c == ',' || c == ':' || c == '/' || c == '-' || c == '\'' || c == 0xA0 ||
         c == 0x66B || c == 0x66C || c == 0x2009 || c == 0x2019 || c == 0x202F || c == 0xFF0C ||
         c == 0xFF0E || c == 0xFF1A;
}

bool is_unit_sign(char32_t c) {
  return c == '%' || c == 0xB0 || c == 0x2030 || c == 0xFF05 || (c >= 0x20A0 && c <= 0x20CF);
}

class SpanFinder {
 public:
  SpanFinder(std::string_view text, Brackets brackets, size_t max_bytes)
      : text_(text), max_bytes_(max_bytes) {
    if (brackets == Brackets::kTags) tags_ = find_bracket_tags(text);
  }

  std::vector<ProtectedSpan> find() {
    auto tag = tags_.begin();
    while (at_ < text_.size()) {
      while (tag != tags_.end() && tag->offset < at_) ++tag;
      if (tag != tags_.end() && tag->offset == at_) {
        take(at_, tag->length, SpanKind::kBracketTag);
      } else if (!take_something()) {
        step();
      }
    }
    return std::move(spans_);
  }

 private:
  bool take_something() {
    if (text_[at_] == '<') {
      if (const size_t length = speaker_tag_length(text_, at_))
        return take(at_, length, SpanKind::kSpeakerTag);
    }
    const char32_t c = code_point_at(text_, at_).value;
    if (at_ >= scanned_ && c != '(' && is_url_char(c)) {
      if (const size_t length = url_length()) return take(at_, length, SpanKind::kOpaque);
    }
    if (is_digit(c)) return take_number();
    if (is_letter(c) && !is_letter(previous_) && !is_mark(previous_) && !is_number(previous_)) {
      if (const size_t length = abbreviation_length(text_, at_))
        return take(at_, length, SpanKind::kOpaque);
      return take_word();
    }
    return false;
  }

  // The rest of a word without a span, so that no letter of it is looked at again.
  bool take_word() {
    const bool url = is_url_char(code_point_at(text_, at_).value);
    while (at_ < text_.size()) {
      const char32_t c = code_point_at(text_, at_).value;
      if (!is_letter(c) || is_url_char(c) != url) break;
      step();
    }
    return true;
  }

  void step() {
    const CodePoint point = code_point_at(text_, at_);
    previous_ = point.value;
    at_ += point.length;
  }

  bool take(size_t begin, size_t length, SpanKind kind) {
    if (length <= max_bytes_) spans_.push_back({{begin, length}, kind});
    at_ = begin + length;
    previous_ = code_point_before(text_, at_).value;
    return true;
  }

  // The run of URL characters from here on, when it is one: "a://b", "www.a" or "a@b".
  size_t url_length() {
    size_t end = at_;
    while (end < text_.size()) {
      const CodePoint point = code_point_at(text_, end);
      if (!is_url_char(point.value)) break;
      end += point.length;
    }
    scanned_ = end;
    const bool parentheses = text_.substr(at_, end - at_).find('(') != std::string_view::npos;
    while (end > at_ && is_trailing_mark(text_[end - 1]) &&
           !(parentheses && text_[end - 1] == ')')) {
      --end;
    }
    const std::string_view run = text_.substr(at_, end - at_);
    const size_t mail = run.find('@');
    const bool is_mail = mail != std::string_view::npos && mail > 0 && mail + 1 < run.size();
    const bool is_url = run.find("://") != std::string_view::npos || run.starts_with("www.");
    return is_url || is_mail ? run.size() : 0;
  }

  bool take_number() {
    size_t begin = at_;
    if (at_ > done() && is_currency_or_sign(previous_)) {
      begin -= code_point_before(text_, at_).length;
    }
    size_t end = digits_end(at_);
    while (end < text_.size()) {
      const CodePoint separator = code_point_at(text_, end);
      if (!is_number_separator(separator.value)) break;
      const size_t next = digits_end(end + separator.length);
      if (next == end + separator.length) break;
      end = next;
    }
    if (end < text_.size()) {
      const CodePoint unit = code_point_at(text_, end);
      if (is_unit_sign(unit.value)) end += unit.length;
    }
    return take(begin, end - begin, SpanKind::kOpaque);
  }

  size_t digits_end(size_t at) const {
    while (at < text_.size()) {
      const CodePoint point = code_point_at(text_, at);
      if (!is_digit(point.value)) break;
      at += point.length;
    }
    return at;
  }

  // Behind the last span: what lies before is taken.
  size_t done() const { return spans_.empty() ? 0 : spans_.back().span.end(); }

  std::string_view text_;
  size_t max_bytes_;
  std::vector<Span> tags_;
  std::vector<ProtectedSpan> spans_;
  size_t at_ = 0;
  size_t scanned_ = 0;  // the end of the last run that was looked at for a URL: once is enough
  char32_t previous_ = ' ';
};

}  // namespace

std::vector<ProtectedSpan> find_protected_spans(std::string_view text, Brackets brackets,
                                                size_t max_bytes) {
  return SpanFinder(text, brackets, max_bytes).find();
}

}  // namespace remora::text
