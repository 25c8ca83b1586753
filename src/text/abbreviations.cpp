#include "text/abbreviations.h"

#include <algorithm>
#include <array>
#include <string>

#include "text/char_class.h"
#include "text/utf8.h"

namespace remora::text {
namespace {

// Lower case, sorted.
constexpr std::array<std::string_view, 45> kKnown = {
    "approx", "brig", "bzw",  "ca",   "capt", "cf",     "cmdr", "dipl", "dr",
    "dra",    "evtl", "exkl", "fr",   "gen",  "ggf",    "gov",  "hon",  "hr",
    "ing",    "inkl", "insb", "lt",   "maj",  "messrs", "mlle", "mme",  "mr",
    "mrs",    "ms",   "mt",   "mx",   "prof", "rep",    "rev",  "sen",  "sgt",
    "sog",    "sr",   "sra",  "srta", "st",   "univ",   "vgl",  "viz",  "vs"};
static_assert(std::is_sorted(kKnown.begin(), kKnown.end()));

// Words that are abbreviations only where a number follows. Lower case, sorted.
constexpr std::array<std::string_view, 36> kBeforeNumber = {
    "abb", "abs", "apr", "art", "aug", "bd",  "c",   "ch",  "col",  "dec", "eq",  "ex",
    "feb", "fig", "jan", "jul", "jun", "kap", "mar", "max", "min",  "no",  "nos", "nov",
    "nr",  "oct", "op",  "p",   "pp",  "s",   "sec", "sep", "sept", "str", "tab", "vol"};
static_assert(std::is_sorted(kBeforeNumber.begin(), kBeforeNumber.end()));

constexpr size_t kMaxPart = 3;   // letters between the dots of "Ph.D."
constexpr size_t kMaxParts = 8;  // of "z. B.", so that a list of letters does not become one

struct Part {
  size_t end = 0;      // bytes of the text, without the dot
  size_t letters = 0;  // code points
};

Part read_letters(std::string_view text, size_t at) {
  Part part{at, 0};
  while (part.end < text.size()) {
    const CodePoint point = code_point_at(text, part.end);
    if (!is_letter(point.value) && !is_mark(point.value)) break;
    part.end += point.length;
    if (is_letter(point.value)) ++part.letters;
  }
  return part;
}

bool has_dot(std::string_view text, size_t at) { return at < text.size() && text[at] == '.'; }

template <size_t N>
bool contains(const std::array<std::string_view, N>& words, std::string_view word) {
  std::string lower(word.substr(0, 8));  // longer than any of them
  if (lower.size() < word.size()) return false;
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return std::binary_search(words.begin(), words.end(), lower);
}

bool number_follows(std::string_view text, size_t at) {
  while (at < text.size()) {
    const CodePoint point = code_point_at(text, at);
    if (!is_space(point.value)) return is_number(point.value);
    at += point.length;
  }
  return false;
}

// The end of "g." behind "e." (with at most one blank between), or `end` when there is none.
size_t next_part(std::string_view text, size_t end) {
  const size_t begin = end < text.size() && text[end] == ' ' ? end + 1 : end;
  const Part part = read_letters(text, begin);
  const size_t most = begin == end ? kMaxPart : 1;
  if (part.letters == 0 || part.letters > most || !has_dot(text, part.end)) return end;
  return part.end + 1;
}

}  // namespace

size_t abbreviation_length(std::string_view text, size_t offset) {
  const Part first = read_letters(text, offset);
  if (first.letters == 0 || !has_dot(text, first.end)) return 0;
  const size_t dot_end = first.end + 1;
  const char32_t initial = code_point_at(text, offset).value;
  if (first.letters <= kMaxPart && is_cased(initial)) {
    size_t end = dot_end;
    for (size_t parts = 1; parts < kMaxParts; ++parts) {
      const size_t next = next_part(text, end);
      if (next == end) break;
      end = next;
    }
    // With a blank between ("z. B."), the first part must be a single letter too.
    const bool tight = end > dot_end && text[dot_end] != ' ';
    if (tight || (end > dot_end && first.letters == 1)) return end - offset;
    if (first.letters == 1 && !is_lowercase(initial)) return dot_end - offset;
  }
  const std::string_view word = text.substr(offset, first.end - offset);
  const bool known =
      contains(kKnown, word) || (contains(kBeforeNumber, word) && number_follows(text, dot_end));
  return known ? dot_end - offset : 0;
}

}  // namespace remora::text
