// A model that always favours one token, which is how a voice gets stuck in a word.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/log.h"
#include "lm/frame_sampler.h"

namespace remora::lm {
namespace {

// Tokens 0 .. entries - 1, of which the last ends the turn.
DrawShape shape_of(const std::vector<int32_t>& tokens, Family family) {
  DrawShape shape;
  shape.family = family;
  shape.vocab_size = static_cast<int64_t>(tokens.size());
  shape.codebook_size = shape.vocab_size - 1;
  shape.num_codebooks = 2;
  shape.end_token = static_cast<int32_t>(tokens.size()) - 1;
  shape.head_tokens = tokens;
  return shape;
}

std::vector<int32_t> tokens_up_to(int32_t count) {
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}

// A model that favours one token in every frame, above thirty others.
class AlwaysTheSame {
 public:
  static constexpr int32_t kFavoured = 5;
  explicit AlwaysTheSame(int32_t ras_window) : sampler_(shape_of(tokens_, Family::kS2)) {
    SamplingParams params;
    params.ras_window = ras_window;
    sampler_.set(params, 5);
  }
  int32_t next() {
    std::vector<float> logits(tokens_.size(), -20.0F);
    std::fill_n(logits.begin() + kFavoured + 1, 30, 0.0F);
    // 72 % of the probability: alone within top_p 0.7, so the first draw gives it each time.
    logits[kFavoured] = 4.34F;
    const int32_t token = sampler_.main_token(logits);
    sampler_.remember({token});
    return token;
  }

 private:
  const std::vector<int32_t> tokens_ = tokens_up_to(40);
  FrameSampler sampler_;
};

// The most times that a token comes in a row.
int longest_run(const std::vector<int32_t>& tokens) {
  int longest = 0, length = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    length = i > 0 && tokens[i] == tokens[i - 1] ? length + 1 : 1;
    longest = std::max(longest, length);
  }
  return longest;
}

void keep_line(void* user, int32_t level, const char* utf8, size_t length) {
  EXPECT_EQ(level, static_cast<int32_t>(LogLevel::kDebug));
  static_cast<std::vector<std::string>*>(user)->emplace_back(utf8, length);
}

TEST(Repetition, RB_11_AFavouredTokenIsBrokenUpWithinTheWindowAndTheTraceTellsIt) {
  constexpr int kFrames = 400;
  AlwaysTheSame loops(0), watched(10);
  for (int i = 0; i < kFrames; ++i) EXPECT_EQ(loops.next(), AlwaysTheSame::kFavoured);

  std::vector<std::string> trace;
  set_log_sink(keep_line, &trace, LogLevel::kDebug);
  std::vector<int32_t> tokens;
  for (int i = 0; i < kFrames; ++i) tokens.push_back(watched.next());
  set_log_sink(nullptr, nullptr, LogLevel::kError);

  // The second draw, of which it is 80 % within top_p 0.9, takes it in 320 of 400 frames (deviation
  // 8); without repetition handling it would be all of them.
  const auto favoured = std::count(tokens.begin(), tokens.end(), AlwaysTheSame::kFavoured);
  EXPECT_LT(favoured, 360);
  EXPECT_GT(favoured, 280);
  EXPECT_GE(trace.size(), static_cast<size_t>(kFrames) - 10);
  EXPECT_TRUE(
      trace.front().starts_with("sampling: frame 2: token 5 is one of the last 10, drawn again: "))
      << trace.front();
  // Sixty in a row come once in ten thousand runs of this length.
  EXPECT_LT(longest_run(tokens), 60);
}

TEST(Repetition, RB_11_ThePenaltyEndsALoopOfTheS1FamilyWithinItsSixteenFrames) {
  const std::vector<int32_t> vocabulary = tokens_up_to(11);
  SamplingParams params;
  params.greedy = true;
  params.repetition_penalty = 1.1F;  // the family's default
  FrameSampler sampler(shape_of(vocabulary, Family::kS1));
  sampler.set(params, 0);
  std::vector<int32_t> tokens;
  for (int i = 0; i < 40; ++i) {
    std::vector<float> logits{2.9F, 2.8F, 2.95F, 3, 0, 0, 0, 0, 0, 0, 0};
    tokens.push_back(sampler.main_token(logits));
    sampler.remember({tokens.back(), 0, 0});
  }
  EXPECT_EQ(tokens[0], 3);
  EXPECT_EQ(std::set<int32_t>(tokens.begin(), tokens.end()), (std::set<int32_t>{0, 1, 2, 3}));
  EXPECT_NE(tokens[1], tokens[0]) << "the next likeliest is 2.95, above 3 / 1.1";
  EXPECT_LE(longest_run(tokens), 16);
}

}  // namespace
}  // namespace remora::lm
