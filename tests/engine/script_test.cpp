#include "engine/script.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace remora::engine {
namespace {

TEST(Script, ATextInOnePieceReachesTheModelAsWritten) {
  const std::string text = "  Two  blanks,\n\n\ta tab: 3,019.5 and e.g. this.  ";
  const auto pieces = plan_pieces(text, {});
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].text, text);
  EXPECT_EQ(pieces[0].text_end, text.size());
}

TEST(Script, RB_15_a_carriage_return_is_never_passed_on) {
  const auto pieces = plan_pieces("one\r\ntwo\rthree\r", {});
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].text, "one\ntwo\nthree\n");
}

TEST(Script, RB_15_cleaned_text_equals_its_single_line_form) {
  ScriptOptions clean;
  clean.clean = true;
  const auto pieces = plan_pieces("    One sentence\n\tin\xE3\x80\x80lines.\r\n\n\n", clean);
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].text, "One sentence in lines.");
}

TEST(Script, RB_25_a_byte_order_mark_is_dropped_and_counted) {
  const auto pieces = plan_pieces("\xEF\xBB\xBFHello.", {});
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].text, "Hello.");
  EXPECT_EQ(pieces[0].text_end, 9U);
}

TEST(Script, RB_08_long_text_is_covered_to_its_last_byte) {
  std::string text;
  for (int i = 0; i < 400; ++i) text += "This is sentence number " + std::to_string(i) + ". ";
  const auto pieces = plan_pieces(text, {});
  EXPECT_GT(pieces.size(), 10U);
  uint64_t done = 0;
  std::string joined;
  for (const Piece& piece : pieces) {
    EXPECT_GT(piece.text_end, done);
    done = piece.text_end;
    joined += piece.text + " ";
  }
  EXPECT_EQ(done, text.size());
  EXPECT_EQ(joined, text);
}

TEST(Script, NoSplitIsOnePieceHoweverLong) {
  ScriptOptions whole;
  whole.split = false;
  std::string text(5000, 'a');
  EXPECT_EQ(plan_pieces(text, whole).size(), 1U);
}

TEST(Script, RB_17_nothing_to_say_is_an_error_of_its_own) {
  for (const char* text : {"", "  \n", "...!?", "[whisper]", "<|speaker:0|>"}) {
    const auto pieces = plan_pieces(text, {});
    EXPECT_TRUE(pieces.empty()) << text;
    EXPECT_THROW(check_speakable(pieces), Error);
  }
}

}  // namespace
}  // namespace remora::engine
