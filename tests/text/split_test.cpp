#include "text/split.h"

#include <gmock/gmock.h>

#include <ctime>
#include <random>

#include "memory_files.h"
#include "text/clean.h"
#include "text/turns.h"
#include "text/utf8.h"

namespace remora::text {
namespace {

using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

SplitOptions raw(size_t bytes) { return {.split_bytes = bytes, .clean = false}; }

std::vector<std::string> spoken(std::string_view text, const SplitOptions& options) {
  std::vector<std::string> out;
  for (const Piece& piece : split_text(text, options)) out.push_back(piece.spoken);
  return out;
}

// What must hold for every text and every size.
void check_pieces(std::string_view text, const SplitOptions& options) {
  const std::vector<Piece> pieces = split_text(text, options);
  if (!has_something_to_say(text, options.brackets)) {
    EXPECT_THAT(pieces, IsEmpty());
    return;
  }
  size_t at = 0;
  for (const Piece& piece : pieces) {
    ASSERT_EQ(piece.offset, at);
    at += piece.length;
    const std::string_view part = text.substr(piece.offset, piece.length);
    EXPECT_TRUE(has_something_to_say(part, options.brackets)) << part;
    EXPECT_FALSE(find_utf8_fault(part)) << part;
  }
  EXPECT_EQ(at, text.size()) << "text lost";
}

TEST(Split, ShortTextIsOnePieceAndItself) {
  EXPECT_THAT(spoken("  Hello  world.\n", raw(300)), ElementsAre("  Hello  world.\n"));
  EXPECT_THAT(spoken("  Hello  world.\n", {}), ElementsAre("Hello world."));
  EXPECT_THAT(spoken(std::string(5000, 'a'), raw(0)), ElementsAre(std::string(5000, 'a')));
}

TEST(Split, UncleanedTurnsAreTheBatchesOfTheReference) {
  const auto cases = test::load_json("lm/s2pro_cases.json")["cases"];
  for (const auto& item : cases) {
    const auto text = item["text"].get<std::string>();
    const auto bytes = item["chunk_length"].get<size_t>();
    EXPECT_EQ(spoken(text, raw(bytes)), batch_texts(text, bytes)) << text;
  }
}

TEST(RB_08_long_text, EveryByteIsInAPiece) {
  std::string chinese;
  while (chinese.size() < 9000) chinese += "\u4eca\u5929\u5929\u6c14\u5f88\u597d";
  std::string english;
  for (int i = 0; i < 1500; ++i) english += "word" + std::to_string(i) + " ";
  const std::string word(2000, 'a');
  for (const std::string& text : {chinese, english, word}) {
    check_pieces(text, {});
    for (const Piece& piece : split_text(text)) {
      EXPECT_LE(piece.length, kDefaultSplitBytes + 1);  // the blank behind the last word
      EXPECT_GE(piece.length, kDefaultSplitBytes / 5);
    }
  }
}

TEST(RB_14_fade, PiecesEndAtSentencesNearTheSize) {
  std::string text;
  for (int i = 0; i < 40; ++i) {
    text += "This is sentence number " + std::to_string(i + 100) + ", and it has two clauses. ";
  }
  for (const size_t bytes : {150, 300, 512}) {
    for (const Piece& piece : split_text(text, {.split_bytes = bytes})) {
      EXPECT_LE(piece.spoken.size(), bytes);
      EXPECT_TRUE(piece.spoken.starts_with("This is") && piece.spoken.ends_with("clauses."))
          << piece.spoken;
    }
  }
}

TEST(Split, ParagraphsBeforeSentencesBeforeClauses) {
  EXPECT_THAT(spoken("First one here. Second.\n\nThird one is here. Fourth.", {.split_bytes = 40}),
              ElementsAre("First one here. Second.", "Third one is here. Fourth."));
  EXPECT_THAT(spoken("A long sentence, with a clause and no end in sight", {.split_bytes = 30}),
              ElementsAre("A long sentence,", "with a clause and no end", "in sight"));
}

TEST(Split, TheLastPieceIsNoCrumb) {
  std::string text;
  for (int i = 0; i < 61; ++i) text += "word ";
  const auto pieces = split_text(text, {.split_bytes = 300});
  ASSERT_EQ(pieces.size(), 2u);
  EXPECT_GT(pieces[1].length, 60u);
}

TEST(Split, TurnsAreGroupedAndLongOnesRepeatTheirSpeaker) {
  const std::string text =
      "Intro. <|speaker:0|> Hi.<|speaker:1|>A long turn here. It goes on for a while. And on. "
      "<|speaker:0|>Bye.";
  const auto pieces = split_text(text, {.split_bytes = 36});
  std::vector<std::string> said;
  std::vector<std::string> speakers;
  for (const Piece& piece : pieces) {
    said.push_back(piece.spoken);
    speakers.emplace_back(piece.speaker);
  }
  EXPECT_THAT(said,
              ElementsAre("Intro.\n<|speaker:0|> Hi.", "<|speaker:1|>A long turn here.",
                          "<|speaker:1|>It goes on for a while. And on.", "<|speaker:0|>Bye."));
  EXPECT_THAT(speakers, ElementsAre("", "", "<|speaker:1|>", ""));
  check_pieces(text, {.split_bytes = 36});
  // For a model without turns the tags are text like any other.
  EXPECT_THAT(spoken("<|speaker:0|>a <|speaker:1|>b", {.speaker_turns = false}),
              ElementsAre("<|speaker:0|>a <|speaker:1|>b"));
}

TEST(Split, ASpeakerTagIsNeverLeftBehind) {
  EXPECT_THAT(spoken("<|speaker:0|>\n\nOne two three. Four five six.<|speaker:1|>\n\nSeven, "
                     "eight, nine, ten.",
                     {.split_bytes = 30}),
              ElementsAre("<|speaker:0|> One two three.", "<|speaker:0|>Four five six.",
                          "<|speaker:1|> Seven, eight,", "<|speaker:1|>nine, ten."));
}

TEST(RB_17_nothing_to_say, NoPieces) {
  for (const std::string text : {"", "   ", "\n\n", "...", "\uff01\uff01", "[whisper]",
                                 "<|speaker:0|>", "<|speaker:0|>[x]<|speaker:1|>!", "\U0001F600"}) {
    EXPECT_THAT(split_text(text), IsEmpty()) << text;
    EXPECT_THAT(split_text(text, raw(1)), IsEmpty()) << text;
  }
}

TEST(RB_17_nothing_to_say, SilentPartsGoWithANeighbour) {
  EXPECT_THAT(spoken("...\n\n?! Hello there, friend.\n\n* * *\n\nBye now my dear friend.",
                     {.split_bytes = 28}),
              ElementsAre("... ?! Hello there, friend. * * *", "Bye now my dear friend."));
  EXPECT_THAT(spoken("<|speaker:0|><|speaker:1|>x", {.split_bytes = 10}),
              ElementsAre("<|speaker:0|>\n<|speaker:1|>x"));
}

TEST(RB_15_whitespace, LayoutDoesNotMoveTheCuts) {
  std::string line;
  for (int i = 0; i < 50; ++i) line += (i ? " " : "") + std::string("This is one sentence more.");
  std::string wild = "\n\n      ";
  for (const char c : line) wild += c == ' ' ? "\n        " : std::string(1, c);
  wild += std::string(500, '\n');
  EXPECT_EQ(spoken(wild, {}), spoken(line, {}));
}

TEST(RB_20_tags, ATagIsInThePieceOfItsSentence) {
  std::string text;
  for (int i = 0; i < 30; ++i) text += "[in a hurry] Come closer, please, will you. ";
  for (size_t bytes = 1; bytes < 200; ++bytes) {
    for (const Piece& piece : split_text(text, {.split_bytes = bytes})) {
      EXPECT_FALSE(piece.spoken.ends_with("]")) << bytes << ": " << piece.spoken;
      const auto count = [&](char c) {
        return std::count(piece.spoken.begin(), piece.spoken.end(), c);
      };
      EXPECT_EQ(count('['), count(']')) << bytes << ": " << piece.spoken;
    }
  }
}

TEST(RB_25_utf8, BadBytesAndNulAreErrorsWithTheirPlace) {
  EXPECT_THAT(error_of(Status::kInvalidArgument, [] { split_text("ab\xF0\x9F\x98"); }),
              HasSubstr("text: byte 2 is not valid UTF-8"));
  EXPECT_THAT(error_of(Status::kInvalidArgument, [] { split_text(std::string_view("a\0b\0", 4)); }),
              HasSubstr("text: byte 1 is NUL"));
}

// The parts between '~'.
std::vector<std::string> parts_of(std::string_view joined) {
  std::vector<std::string> parts;
  while (!joined.empty()) {
    const size_t end = std::min(joined.find('~'), joined.size());
    parts.emplace_back(joined.substr(0, end));
    joined.remove_prefix(std::min(end + 1, joined.size()));
  }
  return parts;
}

TEST(Split, HoldsForRandomTextsOfNastyParts) {
  const std::vector<std::string> parts = parts_of(
      "word~ ~\n~\n\n~\r\n~. ~! ~\u3002~\uff0c~\u4eca\u5929~[tag]~[~]~<|speaker:0|>~<|speaker:~|>~"
      "3.14~1,250~Dr. ~e.g. ~http://a.b/c~a@b.c~\U0001F468\u200D\U0001F469~\U0001F1E9~e\u0301~"
      "\u200d~\u0301~\t~\u3000~...~\"~)~7~\u0964~\u061f ~- ~\u2014");
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (size_t n = random() % 60; n > 0; --n) text += parts[random() % parts.size()];
    check_pieces(text, {.split_bytes = 1 + random() % 60,
                        .clean = random() % 2 == 0,
                        .speaker_turns = random() % 2 == 0,
                        .brackets = random() % 2 == 0 ? Brackets::kTags : Brackets::kText});
  }
}

TEST(Split, AMegabyteOfAnythingIsQuick) {
  for (const std::string& unit : parts_of(
           "a~ ~a ~\n~.~a. ~[~[a]~[a] b ~<|speaker:1|>~<|speaker:1|>a ~7~7,~a.~a. b. ~http://~@~(a~"
           "\u4eca~\u0301~\U0001F468\u200d~\U0001F1E9~\u200d~<~e.g.~$~(~\u00a07")) {
    std::string text = "start ";
    while (text.size() < 1 << 20) text += unit;
    const std::clock_t begin = std::clock();  // of this process: a busy machine does not count
    check_pieces(text, {});
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    // Each takes under 0.5 s; anything quadratic takes hours. Sanitizers cost a factor of 10.
    EXPECT_LT(seconds, 30) << unit;
  }
}

}  // namespace
}  // namespace remora::text
