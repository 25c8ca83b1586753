#include "text/tags.h"

#include <gmock/gmock.h>

#include "memory_files.h"

namespace remora::text {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> texts(std::string_view text, const std::vector<Span>& spans) {
  std::vector<std::string> out;
  for (const Span& span : spans) out.emplace_back(text.substr(span.offset, span.length));
  return out;
}

std::vector<std::string> tags(std::string_view text) {
  return texts(text, find_bracket_tags(text));
}

TEST(RB_19_brackets, TagsAreListedAndTheRestIsText) {
  EXPECT_THAT(tags("See table [4]; array[0] = x; he said [sic] so; [whisper] come here"),
              ElementsAre("[sic]", "[whisper]"));
  EXPECT_THAT(tags("[pitch up][pause] ok"), ElementsAre("[pitch up]", "[pause]"));
  EXPECT_THAT(tags("[\u8bf4\u8bdd]"), ElementsAre("[\u8bf4\u8bdd]"));
  EXPECT_THAT(tags("[a [whisper] b]"), ElementsAre("[whisper]"));
}

TEST(RB_19_brackets, UnclosedEmptyAndWrappedBracketsAreText) {
  for (const std::string text : {"[whisper", "a [ b", "whisper]", "[]", "[...]", "[ ]", "[1, 2]",
                                 "[a\nb]", "[a\u2028b]", "]["}) {
    EXPECT_THAT(tags(text), IsEmpty()) << text;
    EXPECT_EQ(without_tags(text), text);
  }
  EXPECT_THAT(tags("[" + std::string(kMaxTagBytes - 2, 'a') + "]").size(), 1u);
  EXPECT_THAT(tags("[" + std::string(kMaxTagBytes - 1, 'a') + "]"), IsEmpty());
}

TEST(RB_19_brackets, ThereIsACleanCopyAndASpokenOne) {
  const std::string text = "[whisper] come here [sic] now, see [4].";
  EXPECT_EQ(without_tags(text), "come here now, see [4].");
  EXPECT_EQ(tags_in_parentheses(text), "(whisper) come here (sic) now, see [4].");
  EXPECT_EQ(without_tags("<|speaker:0|> Hi. [laughs]<|speaker:1|>Yo [<|speaker:2|>a] b"),
            "Hi. Yo b");
}

TEST(RB_19_brackets, OfNestedOnesNoneIsLeft) {
  EXPECT_EQ(tags_in_parentheses("[a [b] c] [d"), "(a (b) c) [d");
  EXPECT_EQ(tags_in_parentheses("[a [1] [b [c]]]"), "[a [1] (b (c))]")
      << "[1] is text, so its pair";
  EXPECT_EQ(without_tags("Go [a [b] c] on, [whisper [soft]]see [4]."), "Go on, see [4].");
  std::string deep = "x";
  for (int i = 0; i < 300; ++i) deep = "[" + deep + "]";
  EXPECT_THAT(tags(tags_in_parentheses(deep)), IsEmpty());
  EXPECT_EQ(tags_in_parentheses(deep).find('('), 300u - kMaxTagBytes / 2 + 1)
      << "pairs of up to kMaxTagBytes";
  std::string wide;
  while (wide.size() < 1 << 20) wide += "[a [b [c]]] ";
  EXPECT_EQ(tags_in_parentheses(wide).find('['), std::string::npos);
  EXPECT_THAT(without_tags(wide), IsEmpty());
}

TEST(RB_19_brackets, AMegabyteOfBracketsIsQuick) {
  std::string text;
  while (text.size() < 1 << 20) text += "[[[a";
  EXPECT_THAT(find_bracket_tags(text), IsEmpty());
  EXPECT_THAT(find_bracket_tags(std::string(1 << 20, ']')), IsEmpty());
}

std::vector<std::string> misses(std::string_view text) {
  return texts(text, find_speaker_near_misses(text));
}

TEST(SpeakerNearMiss, AreFoundAndTheExactFormIsNone) {
  EXPECT_THAT(misses("<|speaker:0|> a <|speaker:12|>"), IsEmpty());
  for (const std::string miss : {"<|speaker: 1|>", "<speaker:1>", "<|Speaker:1|>", "<|SPEAKER:1|>",
                                 "<| speaker:1 |>", "<|speaker 1|>", "<|speaker1|>", "<speaker_1>",
                                 "<|speaker:A|>", "<|speaker:1>", "<|speaker\uff1a1|>"}) {
    EXPECT_THAT(misses("Hi " + miss + " there"), ElementsAre(miss));
  }
  EXPECT_THAT(misses("a <<speaker:1> b"), ElementsAre("<speaker:1>"));
  for (const std::string text :
       {"<speakers are loud>", "speaker:1", "<loudspeaker:1>", "<|speaker|>", "<speaker:1", "a < b",
        "<speaker of the house of lords>"}) {
    EXPECT_THAT(misses(text), IsEmpty()) << text;
  }
}

TEST(TextWarnings, NameThePlaceAndStayFew) {
  const auto tokenizer = test::tiny_tokenizer("s2pro_tiny");
  EXPECT_THAT(text_warnings("<|speaker:0|>Hello [whisper] there.", *tokenizer), IsEmpty());
  EXPECT_THAT(text_warnings("Hi <speaker:1> and <|im_end|>", *tokenizer),
              ElementsAre(HasSubstr("byte 3: '<speaker:1>'"), HasSubstr("byte 19: '<|im_end|>'")));
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "<|im_end|>";
  const auto warnings = text_warnings(many, *tokenizer);
  EXPECT_LT(warnings.size(), 12u);
  EXPECT_THAT(warnings.back(), HasSubstr("992 more"));
}

TEST(RB_20_tags, TagsReachTheTokenizerAsTheyStand) {
  // Ids of the reference tokenizer for the same strings.
  const auto tokenizer = test::tiny_tokenizer("s2pro_tiny");
  const auto cases = test::load_json("lm/tokenizer_cases.json")["strings"];
  for (const auto& item : cases) {
    const auto text = item["text"].get<std::string>();
    if (tags(text).empty()) continue;
    EXPECT_EQ(tokenizer->encode(text, ControlTokens::kAsText),
              item["s2"].get<std::vector<int32_t>>());
  }
}

}  // namespace
}  // namespace remora::text
