// tokenizer.tiktoken and special_tokens.json: what is read and what is refused.
#include "text/tiktoken_tokenizer.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "memory_files.h"
#include "text/base64.h"

namespace remora::text {
namespace {

using test::error_of;
using testing::AllOf;
using testing::HasSubstr;

std::string file_text(const std::string& name) {
  std::ifstream in(test::data_path("lm/s1mini_tiny/" + name), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::unique_ptr<const Tokenizer> load(const std::string& ranks, const std::string& special) {
  return load_tokenizer(
      test::MemoryFiles({{"tokenizer.tiktoken", ranks}, {"special_tokens.json", special}}));
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

const std::string kRanks = file_text("tokenizer.tiktoken");
const std::string kSpecial = file_text("special_tokens.json");

TEST(TiktokenTokenizer, EmptyLinesCarriageReturnsAndEqualSignsAreSkipped) {
  std::string ranks = "\n= 5\n";
  for (const char c : kRanks) {
    if (c == '\n') ranks += '\r';
    ranks += c;
  }
  const auto changed = load(ranks + "\r\n\n", kSpecial);
  const auto plain = load(kRanks, kSpecial);
  EXPECT_EQ(changed->encode("Hello world.", ControlTokens::kAsText),
            plain->encode("Hello world.", ControlTokens::kAsText));
  EXPECT_EQ(changed->semantic_begin(), plain->semantic_begin());
}

TEST(TiktokenTokenizer, BadRanksNameTheirLine) {
  const auto message = [](const std::string& ranks) {
    return error_of(Status::kFormat, [&] { load(ranks, kSpecial); });
  };
  EXPECT_THAT(message(replaced(kRanks, "Ig== 1", "Ig==")), HasSubstr("tokenizer.tiktoken: line 2"));
  EXPECT_THAT(message(replaced(kRanks, "Ig== 1", "I!== 1")), HasSubstr("line 2"));
  EXPECT_THAT(message(replaced(kRanks, "Ig== 1", "Ig== x")), HasSubstr("line 2"));
  EXPECT_THAT(message(replaced(kRanks, "Ig== 1", "Ig== -1")), HasSubstr("line 2"));
  EXPECT_THAT(message(replaced(kRanks, "Ig== 1", "Ig== 99999999999")), HasSubstr("line 2"));
  EXPECT_THAT(message(replaced(kRanks, "Ig== 1\n", "Ig== 0\n")),
              HasSubstr("rank 0 is there twice"));
  EXPECT_THAT(message(replaced(kRanks, "Ig== 1\n", "Ig== 600\n")), HasSubstr("rank 600"));
  EXPECT_THAT(message(""), HasSubstr("no tokens"));
  for (const size_t part : {10, 50}) {
    EXPECT_THAT(message(kRanks.substr(0, kRanks.size() * part / 100)), HasSubstr("tiktoken"));
  }
}

TEST(TiktokenTokenizer, IdsOfTheFileMustAgreeWithTheirOrder) {
  const auto message = [](const std::string& special) {
    return error_of(Status::kFormat, [&] { load(kRanks, special); });
  };
  EXPECT_THAT(message(replaced(kSpecial, "604", "605")),
              AllOf(HasSubstr("<|im_end|>"), HasSubstr("605"), HasSubstr("604")));
  EXPECT_THAT(message(R"({"<|pad|>": 600, "<|im_start|>": 602, "<|im_end|>": 601})"),
              AllOf(HasSubstr("<|im_start|>"), HasSubstr("601")));
}

TEST(TiktokenTokenizer, TheModelsTokensMustBeThere) {
  const auto message = [](const std::string& special) {
    return error_of(Status::kFormat, [&] { load(kRanks, special); });
  };
  EXPECT_THAT(message(replaced(kSpecial, "<|im_end|>", "<|im_ende|>")), HasSubstr("<|im_end|>"));
  EXPECT_THAT(message(replaced(kSpecial, "<|semantic:8|>", "<|other|>")),
              HasSubstr("<|semantic:8|>"));
  EXPECT_THAT(message(R"({"<|im_end|>": 600})"), HasSubstr("no semantic tokens"));
}

TEST(TiktokenTokenizer, SpecialTokensMustBeAFlatObjectOfIds) {
  for (const std::string bad :
       {"", "[]", "7", "{", R"({"<|pad|>": "600"})", R"({"<|pad|>": {"a": 600}})",
        R"({"<|pad|>": 600, "<|pad|>": 601})", R"({"<|pad|>": 1e99})", R"({"": 600})",
        R"({"<|pad|>": 18446744073709551615})", R"({"<|pad|>": [600]})", R"({"<|pad|>": null})"}) {
    EXPECT_FALSE(error_of(Status::kFormat, [&] { load(kRanks, bad); }).empty()) << bad;
  }
}

TEST(TiktokenTokenizer, AMissingPartnerFileIsNamed) {
  const test::MemoryFiles files({{"tokenizer.tiktoken", kRanks}});
  EXPECT_THAT(error_of(Status::kIo, [&] { load_tokenizer(files); }),
              HasSubstr("special_tokens.json"));
  EXPECT_THAT(error_of(Status::kIo, [&] { load_tokenizer(test::MemoryFiles({})); }),
              AllOf(HasSubstr("tokenizer.json"), HasSubstr("tokenizer.tiktoken")));
}

TEST(Base64, DecodesExactlyWhatIsValid) {
  EXPECT_EQ(decode_base64("aGVsbG8="), "hello");
  EXPECT_EQ(decode_base64("aGVsbA=="), "hell");
  EXPECT_EQ(decode_base64("/+8A"), std::string("\xFF\xEF\0", 3));
  EXPECT_EQ(decode_base64(""), "");
  for (const std::string bad : {"a", "aGVsbG8", "aGVs bG8=", "=GVs", "a===", "====", "aGVs\n"}) {
    EXPECT_EQ(decode_base64(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace remora::text
