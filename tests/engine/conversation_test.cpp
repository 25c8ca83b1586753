#include "engine/conversation.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/golden.h"

namespace remora::engine {
namespace {

constexpr int32_t kFrames = 12;

std::shared_ptr<const Model> text_model(const std::string& name) {
  ModelOptions options;
  options.text_only = true;
  return Model::load(*io::open_directory(test::data_path("lm/" + name)), options);
}

std::shared_ptr<const Voice> voice_of(const Model& model) {
  std::vector<int32_t> codes;
  for (int32_t i = 0; i < model.n_codebooks() * kFrames; ++i) codes.push_back(i % 100);
  return Voice::from_codes(CodeTables::of(model), codes, kFrames, "What was said.");
}

// How often the voice's frames stand in the prompt, each whole and in order.
int times_in(const text::Columns& prompt, const Voice& voice, int32_t semantic_begin) {
  text::Columns spoken{prompt.rows, {}};
  spoken.append_codes(voice.reference().codes, kFrames, semantic_begin);
  int times = 0;
  auto at = prompt.values.begin();
  while ((at = std::search(at, prompt.values.end(), spoken.values.begin(), spoken.values.end())) !=
         prompt.values.end()) {
    EXPECT_EQ((at - prompt.values.begin()) % prompt.rows, 0);
    at += static_cast<long>(spoken.values.size());
    ++times;
  }
  return times;
}

TEST(Conversation, RB_14_the_prompt_of_every_piece_carries_the_voice) {
  for (const std::string name : {"s2pro_tiny", "s1mini_tiny"}) {
    const auto model = text_model(name);
    const auto voice = voice_of(*model);
    const int32_t begin = model->tokenizer().semantic_begin();
    Conversation conversation(model);
    conversation.begin({voice}, false, text::ControlTokens::kAsText);
    size_t length = 0;
    for (const std::string piece : {"One piece.", "Another piece.", "A third."}) {
      const text::Columns prompt = conversation.with_piece(piece);
      EXPECT_EQ(times_in(prompt, *voice, begin), 1) << name << ": " << piece;
      EXPECT_GT(prompt.count(), length) << "earlier pieces stay in front";
      length = prompt.count();
      const std::vector<int32_t> codes(static_cast<size_t>(model->n_codebooks()) * 30, 7);
      conversation.keep(piece, codes);
    }
    // When the context is full the turns go and the voice stays.
    conversation.forget_turns();
    const text::Columns prompt = conversation.with_piece("A fourth.");
    EXPECT_EQ(times_in(prompt, *voice, begin), 1) << name;
    EXPECT_LT(prompt.count(), length);
  }
}

}  // namespace
}  // namespace remora::engine
