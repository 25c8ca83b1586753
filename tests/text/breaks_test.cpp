// Where text may be cut: what is never cut and which cut is better.
#include "text/breaks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/protected_spans.h"

namespace remora::text {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Texts = std::vector<std::string>;

constexpr size_t kNoLimit = 1 << 20;

// `text` cut at every break of at least `level`.
Texts cut(std::string_view text, BreakLevel level, Brackets brackets = Brackets::kTags) {
  Texts parts;
  size_t start = 0;
  for (const Break& place : find_breaks(text, brackets, kNoLimit).places) {
    if (place.level < level) continue;
    parts.emplace_back(text.substr(start, place.end - start));
    start = place.next;
  }
  parts.emplace_back(text.substr(start));
  return parts;
}

Texts sentences(std::string_view text) { return cut(text, BreakLevel::kSentence); }
Texts clauses(std::string_view text) { return cut(text, BreakLevel::kClause); }

Texts protected_texts(std::string_view text) {
  Texts out;
  for (const auto& item : find_protected_spans(text, Brackets::kTags, kNoLimit)) {
    out.emplace_back(text.substr(item.span.offset, item.span.length));
  }
  return out;
}

TEST(Breaks, SentencesInManyScripts) {
  EXPECT_THAT(sentences("One. Two! Three? Four"), ElementsAre("One.", "Two!", "Three?", "Four"));
  EXPECT_THAT(sentences("He said \"Stop.\" Then (later.) He went\u2026 Gone."),
              ElementsAre("He said \"Stop.\"", "Then (later.)", "He went\u2026", "Gone."));
  EXPECT_THAT(
      sentences("\u4f60\u597d\u3002\u4eca\u5929\uff01\u771f\u7684\uff1f\u597d"),
      ElementsAre("\u4f60\u597d\u3002", "\u4eca\u5929\uff01", "\u771f\u7684\uff1f", "\u597d"));
  EXPECT_THAT(sentences("\u300c\u597d\u3002\u300d\u4ed6\u8bf4"),
              ElementsAre("\u300c\u597d\u3002\u300d", "\u4ed6\u8bf4"));
  EXPECT_THAT(sentences("\u0647\u0644\u061f \u0646\u0639\u0645\u06d4 \u0644\u0627"),
              ElementsAre("\u0647\u0644\u061f", "\u0646\u0639\u0645\u06d4", "\u0644\u0627"));
  EXPECT_THAT(
      sentences("\u0928\u092e\u0938\u094d\u0924\u0947\u0964 \u0939\u093e\u0901\u0965 \u0928"),
      ElementsAre("\u0928\u092e\u0938\u094d\u0924\u0947\u0964", "\u0939\u093e\u0901\u0965",
                  "\u0928"));
  EXPECT_THAT(sentences("What?! No... Really."), ElementsAre("What?!", "No...", "Really."));
  EXPECT_THAT(sentences("\ub124. \uc54c\uaca0\uc2b5\ub2c8\ub2e4."),
              ElementsAre("\ub124.", "\uc54c\uaca0\uc2b5\ub2c8\ub2e4."));
}

TEST(Breaks, ADotThatEndsNoSentence) {
  for (const std::string text :
       {"Dr. Smith met Mrs. Jones.", "See e.g. Berlin.", "In the U.S.A. Today it rains.",
        "Das ist z.B. \u00c4pfel.", "Das ist z. B. Obst.", "J. R. R. Tolkien wrote.",
        "Pi is 3.14 today.", "No. 6 is here.", "See vol. 3 or Fig. 7.", "Am 3. Januar 2031.",
        "It ran. then it fell.", "Go to example.com now.", "Version 2.0.1 is out",
        "Prof. Dr. M\u00fcller kam.", "Ph.D. Students came", "vgl. Kap. 3 dort"}) {
    EXPECT_EQ(sentences(text).size(), 1u) << text;
  }
  EXPECT_THAT(sentences("He said no. She left."), ElementsAre("He said no.", "She left."));
  EXPECT_THAT(sentences("It costs 3.50. They paid."), ElementsAre("It costs 3.50.", "They paid."));
  EXPECT_THAT(sentences("In 2031. Then."), ElementsAre("In 2031.", "Then."));
}

TEST(Breaks, ClausesLinesAndParagraphs) {
  EXPECT_THAT(
      clauses("one, two; three: four \u2013 five\u2014six 1,250 at 14:05"),
      ElementsAre("one,", "two;", "three:", "four \u2013", "five\u2014", "six 1,250 at 14:05"));
  EXPECT_THAT(clauses("\u4e00\uff0c\u4e8c\u3001\u4e09\uff1b\u56db"),
              ElementsAre("\u4e00\uff0c", "\u4e8c\u3001", "\u4e09\uff1b", "\u56db"));
  EXPECT_THAT(cut("a b\nc\r\nd\r\n\r\ne \n\t\nf", BreakLevel::kLine),
              ElementsAre("a b", "c", "d", "e", "f"));
  EXPECT_THAT(cut("a b\nc\r\nd\r\n\r\ne \n\t\nf", BreakLevel::kParagraph),
              ElementsAre("a b\nc\r\nd", "e", "f"));
  EXPECT_THAT(cut("a\u2029b", BreakLevel::kParagraph), ElementsAre("a", "b"));
}

TEST(Breaks, NothingProtectedIsEverCut) {
  const std::string text =
      "See https://en.wikipedia.org/wiki/Foo_(bar)?q=1,2. Mail a.b@example.com, call 14:05 or "
      "2031-01-03: $1,250.50, 7.5%, \u20ac3,50, 1\u00a0250, e.g. [pitch up] <|speaker:3|>x Dr. No. "
      "6";
  const auto spans = find_protected_spans(text, Brackets::kTags, kNoLimit);
  EXPECT_THAT(protected_texts(text),
              ElementsAre("https://en.wikipedia.org/wiki/Foo_(bar)?q=1,2", "a.b@example.com",
                          "14:05", "2031-01-03", "$1,250.50", "7.5%", "\u20ac3,50", "1\u00a0250",
                          "e.g.", "[pitch up]", "<|speaker:3|>", "Dr.", "No.", "6"));
  for (const Break& place : find_breaks(text, Brackets::kTags, kNoLimit).places) {
    for (const auto& item : spans) {
      EXPECT_FALSE(place.next > item.span.offset && place.end < item.span.end())
          << text.substr(place.end);
    }
  }
}

TEST(Breaks, UrlsEndWhereTheSentenceGoesOn) {
  EXPECT_THAT(protected_texts("\u770bhttps://example.com/a\u3002\u597d"),
              ElementsAre("https://example.com/a"));
  EXPECT_THAT(protected_texts("(www.example.com)."), ElementsAre("www.example.com"));
  EXPECT_THAT(protected_texts("https://de.wikipedia.org/wiki/K\u00f6ln!"),
              ElementsAre("https://de.wikipedia.org/wiki/K\u00f6ln"));
  EXPECT_THAT(protected_texts("@mention #tag a/b"), IsEmpty());
}

TEST(Breaks, JoinedEmojiAndMarksStayWhole) {
  const std::string family = "\U0001F468\u200D\U0001F469\u200D\U0001F467\u200D\U0001F466";
  const std::string flag = "\U0001F1E9\U0001F1EA";
  const std::string thumb = "\U0001F44D\U0001F3FD";
  const std::string accents = "e\u0301\u0323";
  EXPECT_THAT(cut(family + flag + thumb + accents + flag, BreakLevel::kGrapheme),
              ElementsAre(family, flag, thumb, accents, flag));
}

TEST(RB_20_tags, ATagStaysWithWhatFollowsIt) {
  EXPECT_THAT(sentences("Hello. [whisper] Come closer. [laugh][sigh] Go."),
              ElementsAre("Hello.", "[whisper] Come closer.", "[laugh][sigh] Go."));
  EXPECT_THAT(sentences("Hello.[whisper]Come."), ElementsAre("Hello.", "[whisper]Come."));
  for (const BreakLevel level : {BreakLevel::kGrapheme, BreakLevel::kSpace}) {
    for (const std::string& part : cut("a [in a hurry]  b [x]c", level)) {
      EXPECT_FALSE(part.ends_with(']')) << part;
    }
  }
  // At the end of a paragraph or of the text there is nothing behind it.
  EXPECT_THAT(sentences("Oh no! [laughing]\n\nNext day."),
              ElementsAre("Oh no! [laughing]", "Next day."));
  EXPECT_THAT(sentences("Oh no! Now! [pitch up]"), ElementsAre("Oh no!", "Now! [pitch up]"));
  // As plain text brackets hold nothing together.
  EXPECT_THAT(cut("a [in a] b", BreakLevel::kSpace, Brackets::kText),
              ElementsAre("a", "[in", "a]", "b"));
}

TEST(Breaks, SizesCountARunOfBlanksAsOneByte) {
  const Breaks breaks = find_breaks("  ab \n\t cd   ef  ", Brackets::kTags, kNoLimit);
  EXPECT_EQ(breaks.size, 8u);  // "ab cd ef"
  std::vector<uint32_t> sizes;
  for (const Break& place : breaks.places) {
    if (place.level >= BreakLevel::kSpace) sizes.push_back(place.size);
  }
  EXPECT_THAT(sizes, ElementsAre(2u, 5u));
}

}  // namespace
}  // namespace remora::text
