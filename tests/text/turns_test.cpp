#include "text/turns.h"

#include <gmock/gmock.h>

#include "support/golden.h"

namespace remora::text {
namespace {

using testing::ElementsAre;

TEST(Turns, TurnsAndBatchesEqualTheReference) {
  const auto cases = test::load_json("lm/s2pro_cases.json")["text_split"];
  for (const auto& item : cases) {
    const auto text = item["text"].get<std::string>();
    std::vector<std::string> turns;
    for (const Turn& turn : split_turns(text, LeadingText::kDropped)) turns.emplace_back(turn.text);
    EXPECT_EQ(turns, item["turns"].get<std::vector<std::string>>()) << text;
    for (const auto& [bytes, batches] : item["batches"].items()) {
      EXPECT_EQ(batch_texts(text, std::stoul(bytes), LeadingText::kDropped),
                batches.get<std::vector<std::string>>())
          << text << " in " << bytes;
    }
  }
}

TEST(Turns, TextBeforeTheFirstTagIsATurnOfItsOwn) {
  EXPECT_THAT(batch_texts("intro <|speaker:0|>a<|speaker:1|> b ", 10),
              ElementsAre("intro", "<|speaker:0|>a", "<|speaker:1|> b"));
  EXPECT_THAT(batch_texts("intro <|speaker:0|>a<|speaker:1|> b ", 200),
              ElementsAre("intro\n<|speaker:0|>a\n<|speaker:1|> b"));
  EXPECT_THAT(batch_texts(" \n <|speaker:0|>a", 200), ElementsAre("<|speaker:0|>a"));
}

TEST(Turns, SpansCoverTheText) {
  for (const std::string text : {"intro <|speaker:0|>a<|speaker:1|> b ", "  <|speaker:0|> x ",
                                 "<|speaker:0|><|speaker:0|>", "a<|speaker:0|>"}) {
    size_t at = 0;
    for (const Turn& turn : split_turns(text)) {
      EXPECT_EQ(turn.span.offset, at) << text;
      at = turn.span.end();
      EXPECT_EQ(turn.tag, speaker_tag_length(turn.text, 0));
    }
    EXPECT_EQ(at, text.size()) << text;
  }
}

TEST(SpeakerTag, OnlyTheExactFormIsOne) {
  EXPECT_EQ(speaker_tag_length("<|speaker:0|>", 0), 13u);
  EXPECT_EQ(speaker_tag_length("x<|speaker:12|>y", 1), 14u);
  EXPECT_EQ(speaker_tag_length("<|speaker:\u0663|>", 0), 14u);
  for (const std::string text :
       {"<|speaker:|>", "<|speaker: 1|>", "<|Speaker:1|>", "<speaker:1>", "<|speaker:1|",
        "<|speaker:1", "<|speaker:-1|>", "<|speaker:1 |>", "<|speaker:\u00b2|>"}) {
    EXPECT_EQ(speaker_tag_length(text, 0), 0u) << text;
  }
}

}  // namespace
}  // namespace remora::text
