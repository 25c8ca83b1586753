// tokenizer.json: what is read, what is refused and how the message says so.
#include "text/json_tokenizer.h"

#include <gmock/gmock.h>

#include <functional>
#include <nlohmann/json.hpp>

#include "memory_files.h"

namespace remora::text {
namespace {

using nlohmann::json;
using test::error_of;
using testing::AllOf;
using testing::HasSubstr;
using Ids = std::vector<int32_t>;

json tiny_json() { return test::load_json("lm/s2pro_tiny/tokenizer.json"); }

std::unique_ptr<const Tokenizer> load(const std::string& text) {
  return load_tokenizer(test::MemoryFiles({{"tokenizer.json", text}}));
}

// The message for the tiny file after `change`.
std::string refusal(Status status, const std::function<void(json&)>& change) {
  json file = tiny_json();
  change(file);
  return error_of(status, [&] { load(file.dump()); });
}

// "a b" instead of ["a","b"].
json as_string(const json& pair) {
  return pair[0].get<std::string>() + " " + pair[1].get<std::string>();
}

TEST(RB_23_merges, PairsStringsAndAMixtureGiveTheSameIds) {
  const json pairs = tiny_json();
  json strings = pairs;
  json mixed = pairs;
  auto& merges = pairs["model"]["merges"];
  for (size_t i = 0; i < merges.size(); ++i) {
    strings["model"]["merges"][i] = as_string(merges[i]);
    if (i % 2 == 1) mixed["model"]["merges"][i] = as_string(merges[i]);
  }
  const std::string text = "the river runs to the sea";
  const Ids ids = load(pairs.dump())->encode(text, ControlTokens::kAsText);
  EXPECT_LT(ids.size(), text.size());  // something did merge
  EXPECT_EQ(load(strings.dump())->encode(text, ControlTokens::kAsText), ids);
  EXPECT_EQ(load(mixed.dump())->encode(text, ControlTokens::kAsText), ids);
}

TEST(RB_23_merges, ABrokenEntryNamesItsIndex) {
  for (const json& broken : {json("onlyone"), json("a b c"), json::array({"a"}), json(7),
                             json::array({"a", 7}), json(nullptr)}) {
    EXPECT_THAT(refusal(Status::kFormat, [&](json& file) { file["model"]["merges"][5] = broken; }),
                AllOf(HasSubstr("tokenizer.json"), HasSubstr("model.merges[5]")));
  }
  const auto unknown = [](json& file) { file["model"]["merges"][7] = {"q", "\u0120the"}; };
  EXPECT_THAT(refusal(Status::kFormat, unknown),
              AllOf(HasSubstr("model.merges[7]"), HasSubstr("model.vocab")));
}

TEST(RB_23_merges, AnEmptyTableIsAnError) {
  const auto empty = [](json& file) { file["model"]["merges"] = json::array(); };
  EXPECT_THAT(refusal(Status::kFormat, empty), HasSubstr("'model.merges' is empty"));
}

TEST(JsonTokenizer, WithoutNormalizerAccentsStayApart) {
  json file = tiny_json();
  file["normalizer"] = nullptr;
  const auto plain = load(file.dump());
  const auto nfc = load(tiny_json().dump());
  EXPECT_EQ(plain->decode(plain->encode("cafe\u0301", ControlTokens::kAsText)), "cafe\u0301");
  EXPECT_EQ(nfc->decode(nfc->encode("cafe\u0301", ControlTokens::kAsText)), "caf\u00e9");
}

TEST(JsonTokenizer, WhatWouldChangeTheIdsIsRefusedByName) {
  struct Case {
    std::string named;
    std::function<void(json&)> change;
  };
  const std::vector<Case> cases = {
      {"normalizer 'NFKC'",
       [](json& f) {
         f["normalizer"] = {{"type", "NFKC"}};
       }},
      {"normalizer 'Lowercase'",
       [](json& f) {
         f["normalizer"] = {{"type", "Sequence"}, {"normalizers", {{{"type", "Lowercase"}}}}};
       }},
      {"pre-tokenizer 'Metaspace'",
       [](json& f) {
         f["pre_tokenizer"] = {{"type", "Metaspace"}};
       }},
      {"model type 'Unigram'", [](json& f) { f["model"]["type"] = "Unigram"; }},
      {"dropout", [](json& f) { f["model"]["dropout"] = 0.1; }},
      {"byte_fallback", [](json& f) { f["model"]["byte_fallback"] = true; }},
      {"ignore_merges", [](json& f) { f["model"]["ignore_merges"] = true; }},
      {"end_of_word_suffix", [](json& f) { f["model"]["end_of_word_suffix"] = "</w>"; }},
      {"lstrip", [](json& f) { f["added_tokens"][3]["lstrip"] = true; }},
      {"Isolated", [](json& f) { f["pre_tokenizer"]["pretokenizers"][0]["behavior"] = "Removed"; }},
      {"add_prefix_space",
       [](json& f) { f["pre_tokenizer"]["pretokenizers"][1]["add_prefix_space"] = true; }},
  };
  for (const Case& item : cases) {
    EXPECT_THAT(refusal(Status::kUnsupported, item.change),
                AllOf(HasSubstr("tokenizer.json"), HasSubstr(item.named)));
  }
}

// The index of an added token in the file.
size_t added_index(const json& file, const std::string& content) {
  size_t i = 0;
  while (file["added_tokens"][i]["content"] != content) ++i;
  return i;
}

TEST(JsonTokenizer, TheModelsTokensMustBeThere) {
  const auto renamed = [](const std::string& from, const std::string& to) {
    return [=](json& f) { f["added_tokens"][added_index(f, from)]["content"] = to; };
  };
  EXPECT_THAT(refusal(Status::kFormat, renamed("<|im_end|>", "<|other|>")),
              AllOf(HasSubstr("tokenizer.json"), HasSubstr("<|im_end|>")));
  EXPECT_THAT(refusal(Status::kFormat, renamed("<|semantic:17|>", "<|other|>")),
              HasSubstr("<|semantic:17|>"));
  EXPECT_THAT(refusal(Status::kFormat, renamed("<|semantic:0|>", "<|other|>")),
              HasSubstr("<|semantic:0|>"));
  const auto none = [](json& f) {
    for (auto& token : f["added_tokens"]) {
      if (token["content"].get<std::string>().starts_with("<|semantic")) {
        token["content"] = "<|x" + std::to_string(token["id"].get<int>()) + "|>";
      }
    }
  };
  EXPECT_THAT(refusal(Status::kFormat, none), HasSubstr("no semantic tokens"));
  const auto swapped = [](json& f) {
    const size_t i = added_index(f, "<|semantic:5|>");
    std::swap(f["added_tokens"][i]["content"], f["added_tokens"][i + 1]["content"]);
  };
  EXPECT_THAT(refusal(Status::kFormat, swapped), HasSubstr("<|semantic:5|> has id"));
  const auto no_byte = [](json& f) { f["model"]["vocab"].erase("a"); };
  EXPECT_THAT(refusal(Status::kFormat, no_byte), HasSubstr("no token for byte 97"));
}

TEST(JsonTokenizer, WildFieldsAreErrorsWithTheFilesName) {
  const std::vector<std::function<void(json&)>> changes = {
      [](json& f) { f = json::array(); },
      [](json& f) { f.erase("model"); },
      [](json& f) { f["model"] = 3; },
      [](json& f) { f["model"]["vocab"] = "x"; },
      [](json& f) { f["model"]["vocab"]["zz"] = 2'000'000'000; },
      [](json& f) { f["model"]["vocab"]["zz"] = -1; },
      [](json& f) { f["model"]["vocab"]["zz"] = 0; },
      [](json& f) { f["model"]["merges"] = json::object(); },
      [](json& f) { f["added_tokens"] = "x"; },
      [](json& f) { f["added_tokens"][0] = 1; },
      [](json& f) { f["added_tokens"][0].erase("id"); },
      [](json& f) { f["added_tokens"][0].erase("content"); },
      [](json& f) { f["added_tokens"][0]["id"] = 0; },
      [](json& f) { f["added_tokens"][1]["content"] = f["added_tokens"][0]["content"]; },
      [](json& f) { f["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "("; },
      [](json& f) {
        f["pre_tokenizer"]["pretokenizers"][0]["pattern"] = {{"String", "x"}};
      },
      [](json& f) { f["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = 1; },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    EXPECT_THAT(refusal(Status::kFormat, changes[i]), HasSubstr("tokenizer.json"))
        << "change " << i;
  }
}

TEST(JsonTokenizer, ACutFileIsAnErrorAtEveryTenthPart) {
  const std::string whole = tiny_json().dump();
  for (size_t tenths = 0; tenths < 10; ++tenths) {
    EXPECT_THAT(
        error_of(Status::kFormat, [&] { load(whole.substr(0, whole.size() * tenths / 10)); }),
        HasSubstr("tokenizer.json"));
  }
}

TEST(JsonTokenizer, APatternThatExplodesIsAnErrorNotAHang) {
  json file = tiny_json();
  file["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "(a+)+(a+)+(a+)+$";
  const auto tokenizer = load(file.dump());
  const std::string text = std::string(5000, 'a') + "b";
  EXPECT_THAT(
      error_of(Status::kUnsupported, [&] { tokenizer->encode(text, ControlTokens::kAsText); }),
      HasSubstr("pre-tokenizer pattern failed at byte 0"));
}

std::vector<std::string_view> words_of(const std::string& pattern, std::string_view text) {
  std::vector<std::string_view> words;
  PreTokenizer(pattern, "test").split(text, words);
  return words;
}

TEST(PreTokenizer, ThePatternHasOneBudgetForTheWholeText) {
  // Each of these gives up or gives in at every place, after as much work as it is let.
  const std::string text(20000, 'a');
  for (const std::string pattern : {"(?:a+)+b|.", "(?:a|aa)+$b|.", "a*+b|.", "(?=(?:a+)+b)x",
                                    "(?:a*a*a*a*b)?.", ".(?=.*b)|."}) {
    EXPECT_THAT(error_of(Status::kUnsupported, [&] { words_of(pattern, text); }),
                HasSubstr("too many steps"))
        << pattern;
  }
}

TEST(PreTokenizer, LongMatchesAreFoundWhole) {
  const std::string pattern = "\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
  for (const std::string unit : {"a", "\u00e9", "\U00020000", "-"}) {
    std::string word;
    while (word.size() < 300'000) word += unit;
    EXPECT_EQ(words_of(pattern, word), (std::vector<std::string_view>{word}));
    const std::string around = "12" + word + "34";
    EXPECT_EQ(words_of(pattern, around).at(1), word);
  }
  const std::string blanks(300'000, ' ');
  const std::string text = blanks + "a";
  EXPECT_EQ(words_of(pattern, text).at(0).size(), blanks.size() - 1);
}

TEST(PreTokenizer, ALookAtTheNextCharacterIsTheSameWhereverTheMatchEnds) {
  // Matches of every length around the part of the text that is looked at first.
  for (size_t n = 240; n < 270; ++n) {
    const std::string word(n, 'a');
    const std::string text = word + "b" + word + "\u00e9" + word;
    const auto words = words_of("a+(?=b)|a+(?!\\X)|aa|\\PM", text);
    ASSERT_EQ(words.front().size(), n);
    EXPECT_EQ(words.back().size(), n) << "the end of the text";
    EXPECT_EQ(words.size(), 1 + 1 + (n + 1) / 2 + 1 + 1) << n;
  }
}

TEST(JsonTokenizer, AnAddedTokenTooLongToLookForIsNamed) {
  json file = tiny_json();
  file["added_tokens"].push_back(
      {{"id", 100000}, {"content", "<|" + std::string(300, 'x') + "|>"}});
  EXPECT_THAT(error_of(Status::kFormat, [&] { load(file.dump()); }),
              testing::AllOf(HasSubstr("tokenizer.json"), HasSubstr("<|xxx"), HasSubstr("100000"),
                             HasSubstr("304 bytes, at most 256")));
  file["added_tokens"].back()["content"] = std::string(256, 'x');
  EXPECT_TRUE(load(file.dump())->token_id(std::string(256, 'x')));
}

TEST(JsonTokenizer, PartsThatThePatternDoesNotMatchStayPreTokens) {
  json file = tiny_json();
  file["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = "[0-9]+|x*";
  const auto tokenizer = load(file.dump());
  for (const std::string text : {"abc12def", "12", "abc", "axxb1"}) {
    EXPECT_EQ(tokenizer->decode(tokenizer->encode(text, ControlTokens::kAsText)), text);
  }
}

TEST(JsonTokenizer, WhiteSpaceInThePatternIsTheUnicodeProperty) {
  // U+180E has not been white space since Unicode 6.3; the regular expression library still has it.
  const PreTokenizer pre("\\s+|\\S+", "test");
  std::vector<std::string_view> words;
  pre.split("a\u180eb \u3000\u0085c", words);
  EXPECT_EQ(words, (std::vector<std::string_view>{"a\u180eb", " \u3000\u0085", "c"}));
}

}  // namespace
}  // namespace remora::text
