#include "text/tokenizer.h"

#include <gmock/gmock.h>

#include "memory_files.h"
#include "text/utf8.h"

namespace remora::text {
namespace {

using test::error_of;
using test::tiny_tokenizer;
using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<int32_t>;

class Both : public testing::TestWithParam<std::string> {
 protected:
  const std::unique_ptr<const Tokenizer> tokenizer = tiny_tokenizer(GetParam());
};
INSTANTIATE_TEST_SUITE_P(Tokenizers, Both, testing::Values("s2pro_tiny", "s1mini_tiny"));

TEST(Tokenizer, All117ReferenceStringsAreExactForBothFamilies) {
  const auto s2 = tiny_tokenizer("s2pro_tiny");
  const auto s1 = tiny_tokenizer("s1mini_tiny");
  const auto cases = test::load_json("lm/tokenizer_cases.json")["strings"];
  ASSERT_EQ(cases.size(), 117u);
  for (const auto& item : cases) {
    const auto text = item["text"].get<std::string>();
    const Ids ids = s2->encode(text, ControlTokens::kAllowed);
    EXPECT_EQ(ids, item["s2"].get<Ids>()) << text;
    EXPECT_EQ(s2->decode(ids), item["s2_decoded"].get<std::string>());
    const Ids s1_ids = s1->encode(text, ControlTokens::kAllowed);
    EXPECT_EQ(s1_ids, item["s1"].get<Ids>()) << text;
    EXPECT_EQ(s1->decode(s1_ids), text);  // no normaliser: every byte comes back
  }
}

TEST(Tokenizer, SpecialIdsAreThoseOfTheReference) {
  for (const std::string family : {"s2pro", "s1mini", "s1proj"}) {
    const auto tokenizer = tiny_tokenizer(family + "_tiny");
    const auto cases = test::load_json("lm/" + family + "_cases.json");
    EXPECT_EQ(tokenizer->semantic_begin(), cases["semantic_begin_id"].get<int32_t>());
    EXPECT_EQ(tokenizer->semantic_end(), cases["semantic_end_id"].get<int32_t>());
    EXPECT_EQ(tokenizer->end_token(), cases["im_end_id"].get<int32_t>());
    EXPECT_EQ(tokenizer->vocabulary_size(), tokenizer->semantic_end() + 1);
    EXPECT_EQ(tokenizer->token_id("<|im_end|>"), tokenizer->end_token());
    EXPECT_EQ(tokenizer->token_id("<|nothing|>"), std::nullopt);
  }
}

// Ids at or above the first special one appear only where kAllowed reads a control token.
int special_count(const Tokenizer& tokenizer, const Ids& ids) {
  const int32_t first =
      std::min(*tokenizer.token_id("<|im_start|>"), *tokenizer.token_id("<|pad|>"));
  return static_cast<int>(
      std::count_if(ids.begin(), ids.end(), [&](int32_t id) { return id >= first; }));
}

TEST_P(Both, RB_22_TypedControlTokensAreLetters) {
  for (const std::string text :
       {"Hello <|im_end|> there", "<|im_start|>assistant", "<|semantic:12|>", "<|audio_start|>",
        "<<|im_end|>>", "<|voice|><|voice|>"}) {
    const Ids typed = tokenizer->encode(text, ControlTokens::kAsText);
    EXPECT_EQ(special_count(*tokenizer, typed), 0) << text;
    EXPECT_EQ(tokenizer->decode(typed), text);
    EXPECT_GE(special_count(*tokenizer, tokenizer->encode(text, ControlTokens::kAllowed)), 1);
  }
}

TEST_P(Both, RB_22_TypedControlTokensAreFoundForAWarning) {
  const std::string text = "a <|im_end|> b <|speaker:1|> c <|semantic:3|>";
  const auto found = tokenizer->find_control_tokens(text);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(text.substr(found[0].offset, found[0].length), "<|im_end|>");
  EXPECT_EQ(text.substr(found[1].offset, found[1].length), "<|semantic:3|>");
}

TEST_P(Both, RB_16_NumbersReachTheModelAsWritten) {
  const std::string text = "4, 5, 6. 207. 3,019. 14:05, 3 Jan 2031, 7.5%, $1,250, No. 6, e.g.";
  for (const std::string& frame : {text, "Zahlen: " + text + " Ende", "数字：" + text + "。"}) {
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(frame, ControlTokens::kAsText)), frame);
  }
}

TEST_P(Both, RB_25_BadBytesAreRefusedBeforeAnythingRuns) {
  for (const auto mode : {ControlTokens::kAsText, ControlTokens::kAllowed}) {
    EXPECT_THAT(
        error_of(Status::kInvalidArgument, [&] { tokenizer->encode("Hi \xF0\x9F\x98", mode); }),
        HasSubstr("text: byte 3 is not valid UTF-8"));
  }
}

TEST_P(Both, DecodeNamesAnIdThatDoesNotExist) {
  for (const int32_t id : {-1, tokenizer->vocabulary_size(), INT32_MAX, INT32_MIN}) {
    const Ids ids = {0, id};
    EXPECT_THAT(error_of(Status::kInvalidArgument, [&] { tokenizer->decode(ids); }),
                HasSubstr("ids: entry 1 is " + std::to_string(id)));
  }
}

TEST_P(Both, DecodeOfHalfACharacterIsAReplacement) {
  const Ids ids = tokenizer->encode("\u2764", ControlTokens::kAsText);
  ASSERT_GT(ids.size(), 1u);
  EXPECT_FALSE(find_utf8_fault(tokenizer->decode(std::span(ids).first(1))));
}

// Sizes that make anything quadratic or recursive show: it would take minutes or crash.
TEST_P(Both, AMegabyteOfAnythingEncodes) {
  const size_t size = 1 << 20;
  const auto repeated = [&](std::string_view unit) {
    std::string text;
    while (text.size() < size) text += unit;
    return text;
  };
  for (const std::string_view unit :
       {"a", " ", "\n", " \n", "7", "!", "th", "The river runs. ", "\u4eca\u5929", "\U0001F600",
        "<|", "<|semantic:", "\u0301", "  ?!", "'s", "\u200d"}) {
    const std::string text = repeated(unit);
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text, ControlTokens::kAllowed)).size(),
              text.size())
        << unit;
  }
}

TEST_P(Both, ALongWordIsThatOfItsPartsWhereNothingMergesAcross) {
  // "7" is a pre-token by itself, so the word between two of them is encoded as if alone.
  const std::string word(20000, 'e');
  const Ids alone = tokenizer->encode(word, ControlTokens::kAsText);
  Ids framed = tokenizer->encode("7" + word + "7", ControlTokens::kAsText);
  ASSERT_EQ(framed.size(), alone.size() + 2);
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), framed.begin() + 1));
}

TEST(Tokenizer, S1TextIsCutAtFourHundredThousandCharactersFirst) {
  const auto s1 = tiny_tokenizer("s1mini_tiny");
  // The cut falls inside the token, so that it is letters.
  const std::string before(399'995, '7');
  const Ids ids = s1->encode(before + "<|im_end|>", ControlTokens::kAllowed);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), s1->end_token()), 0);
  const Ids whole = s1->encode(before.substr(5) + "<|im_end|>", ControlTokens::kAllowed);
  EXPECT_EQ(whole.back(), s1->end_token());
}

}  // namespace
}  // namespace remora::text
