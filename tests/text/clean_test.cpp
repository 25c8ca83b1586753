#include "text/clean.h"

#include <gtest/gtest.h>

#include "memory_files.h"

namespace remora::text {
namespace {

const std::string kOneLine = "The river runs to the sea, and the sea runs to the sky.";

// The sentence on five lines, each put together by `before` + words + `after`.
std::string five_lines(const std::string& before, const std::string& after) {
  const std::string lines[] = {"The river runs", "to the sea,", "and the sea", "runs to",
                               "the sky."};
  std::string out;
  for (const std::string& line : lines) out += before + line + after;
  return out;
}

TEST(RB_15_whitespace, EveryLayoutGivesTheIdsOfOneLine) {
  const std::vector<std::string> layouts = {
      five_lines("    ", "\n"),
      five_lines("\t", "\n"),
      five_lines("\t\t ", " \t\n"),
      five_lines("", "\r\n"),
      five_lines("", "\r"),
      five_lines("\u3000", "\n"),
      five_lines("\u00a0\u00a0", "\n"),
      five_lines("\u200b ", "\u200b\n"),
      five_lines("\ufeff", "\n"),
      five_lines("", "\u2028"),
      five_lines("", "\u0085"),
      five_lines("", " \v\f"),
      five_lines("", "\n\n\n"),
      five_lines("", "\n") + std::string(10, '\n'),
      "\n\n  " + kOneLine + " \t ",
      "The river run\u00ads to the sea, and the sea runs to the s\u2060ky.\x1b",
  };
  for (const std::string folder : {"s2pro_tiny", "s1mini_tiny"}) {
    const auto tokenizer = test::tiny_tokenizer(folder);
    const auto expected = tokenizer->encode(kOneLine, ControlTokens::kAsText);
    for (const std::string& layout : layouts) {
      EXPECT_EQ(clean_text(layout), kOneLine);
      EXPECT_EQ(tokenizer->encode(clean_text(layout), ControlTokens::kAsText), expected);
    }
  }
}

TEST(RB_15_whitespace, WhatIsNoWhiteSpaceStays) {
  for (const std::string text :
       {"a  b", "\U0001F468\u200D\U0001F469\u200D\U0001F467",
        "\u0645\u06CC\u200C\u062E\u0648\u0627\u0647\u0645",
        "caf\u00e9 3,019. 14:05 -- \u2026 [sic] <|speaker:0|> \u200e", "\u0928\u0940"}) {
    const std::string expected = text == "a  b" ? "a b" : text;
    EXPECT_EQ(clean_text(text), expected);
  }
  EXPECT_EQ(clean_text(""), "");
  EXPECT_EQ(clean_text(" \u3000\r\n\ufeff"), "");
}

TEST(RB_15_whitespace, CleanTextIsCleanAlready) {
  const std::string once = clean_text("  a \t b\r\n\u00a0c\u200b ");
  EXPECT_EQ(once, "a b c");
  EXPECT_EQ(clean_text(once), once);
}

TEST(RB_16_numbers, CleaningLeavesNumbersAsWritten) {
  const std::string text = "4, 5, 6. 207. 3,019. 14:05, 3 Jan 2031, 7.5%, $1,250, No. 6, e.g.";
  for (const std::string& frame : {text, "Die Zahlen: " + text, "\u6570\u5b57\uff1a" + text}) {
    EXPECT_EQ(clean_text(frame), frame);
  }
}

TEST(RB_17_nothing_to_say, BlanksMarksTagsAndEmojiAreNothing) {
  for (const std::string text :
       {"", "   ", "\n\n", "\u3000\u00a0", "...", "?!.,;:-_'\"()[]{}/\\#*~+=@&%$^`|<>",
        "\uff01\uff1f\u3002\u3001\uff0c\uff1b\uff1a\u2026\u300c\u300d", "\u200b\ufeff", "[whisper]",
        "[whisper] ... [laughing]!", "<|speaker:0|>", " <|speaker:0|> \n<|speaker:12|>.",
        "\U0001F600", "\u2764\ufe0f", "\U0001F468\u200D\U0001F469\u200D\U0001F467",
        "\U0001F1E9\U0001F1EA", "\u0301", "\u2022", "\u266b"}) {
    EXPECT_FALSE(has_something_to_say(text)) << text;
  }
}

TEST(RB_17_nothing_to_say, AnyLetterOrNumberIsSomething) {
  for (const std::string text :
       {"a", "7", "...a", "\u00bd", "\u216b", "\u00b2", "\u4eca", "\u0633", "\u0928\u092e",
        "\uac00", "\u00e9", "e\u0301", "[whisper] a", "[whisper", "[4]", "<|speaker:|>",
        "<|speaker: 1|>", "\U0001F600 hi", "\uff11"}) {
    EXPECT_TRUE(has_something_to_say(text)) << text;
  }
  EXPECT_TRUE(has_something_to_say("[whisper]", Brackets::kText));
  EXPECT_FALSE(has_something_to_say("<|speaker:0|>", Brackets::kText));
}

}  // namespace
}  // namespace remora::text
