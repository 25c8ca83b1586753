// Where a generation ends, and that it says why.
#include <set>

#include "capi_test.h"

namespace remora::capi_test {
namespace {

constexpr int32_t kCodebooks = 6;

class LengthTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { model_ = open_model("s2pro_tiny", false).release(); }
  static void TearDownTestSuite() {
    remora_model_destroy(model_);
    model_ = nullptr;
  }
  static Owned<remora_session> session_with(const remora_sampling& sampling) {
    auto session = open_session(model_);
    EXPECT_OK(remora_session_set_sampling(session.get(), &sampling));
    return session;
  }
  static remora_sampling defaults(uint64_t seed = 42) {
    remora_sampling sampling;
    EXPECT_OK(remora_sampling_init(&sampling, sizeof sampling));
    sampling.seed = seed;
    return sampling;
  }
  static Owned<remora_voice> voice() {
    const std::vector<int32_t> codes(kCodebooks * 20, 3);
    remora_voice* voice = nullptr;
    EXPECT_OK(remora_voice_from_codes(model_, codes.data(), 20, "Some words.", 11, &voice));
    return Owned<remora_voice>(voice);
  }
  static remora_model* model_;
};
remora_model* LengthTest::model_ = nullptr;

std::string long_chinese() {
  std::string text;  // 3000 characters without a mark
  for (int i = 0; i < 500; ++i) text += "\u4eca\u5929\u5929\u6c14\u5f88\u597d";
  return text;
}
std::string long_english() {
  std::string text;
  for (int i = 0; i < 1500; ++i) text += "word" + std::to_string(i) + " ";
  return text;
}

TEST_F(LengthTest, RB_08_a_length_limit_is_told_and_all_pieces_are_spoken) {
  for (const std::string& text : {long_chinese(), long_english(), std::string(2000, 'a')}) {
    const auto session = session_with(greedy(50));
    const remora_prompt prompt = text_prompt(text);
    ASSERT_OK(remora_session_prefill(session.get(), &prompt));
    const size_t frames = run_frames(session.get(), kCodebooks).size();
    const remora_stats stats = stats_of(session.get());
    EXPECT_EQ(stats.finish, REMORA_FINISH_LENGTH) << "no silent stop";
    EXPECT_EQ(stats.text_done, text.size());
    EXPECT_GE(stats.pieces, text.size() / 520);
    EXPECT_EQ(stats.pieces_done, stats.pieces);
    EXPECT_LE(frames, stats.pieces * 50);
    EXPECT_GT(frames, stats.pieces * 10) << "the pieces are spoken, not the first alone";
  }
}

TEST_F(LengthTest, RB_08_the_default_bound_and_a_whole_piece_tell_their_end_too) {
  // Two thousand letters in one piece, as much as the context takes.
  const std::string text(2000, 'a');
  const auto session = session_with(defaults());
  remora_prompt prompt = text_prompt(text);
  prompt.flags = REMORA_PROMPT_NO_SPLIT;
  ASSERT_OK(remora_session_prefill(session.get(), &prompt));
  run_frames(session.get(), kCodebooks);
  const remora_stats stats = stats_of(session.get());
  EXPECT_EQ(stats.pieces, 1U);
  EXPECT_NE(stats.finish, REMORA_FINISH_NONE);
  if (stats.finish == REMORA_FINISH_CAPACITY) {
    EXPECT_EQ(stats.kv_len, 2560);
  }
  EXPECT_EQ(stats.text_done, text.size());
}

TEST_F(LengthTest, RB_09_one_word_ends_by_itself_or_at_a_bound_of_its_length) {
  const auto reference = voice();
  const remora_voice* voices[] = {reference.get()};
  std::set<remora_finish> seen;
  for (const std::string text : {"\u54ce", "Hi", "a", "OK.", "7"}) {
    // docs/text.md: 64 frames and five for each byte.
    const size_t bound = 64 + 5 * text.size();
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      for (const uint64_t n_voices : {0, 1}) {
        const auto session = session_with(defaults(seed));
        remora_prompt prompt = text_prompt(text);
        prompt.voices = voices;
        prompt.n_voices = n_voices;
        ASSERT_OK(remora_session_prefill(session.get(), &prompt));
        const size_t frames = run_frames(session.get(), kCodebooks).size();
        const remora_finish finish = stats_of(session.get()).finish;
        seen.insert(finish);
        EXPECT_LE(frames, bound) << text << " seed " << seed;
        EXPECT_EQ(finish == REMORA_FINISH_LENGTH, frames == bound) << text << " seed " << seed;
      }
    }
  }
  EXPECT_EQ(seen.count(REMORA_FINISH_NONE), 0U);
  EXPECT_EQ(seen.count(REMORA_FINISH_LENGTH), 1U) << "a random model rarely ends by itself";
}

TEST_F(LengthTest, RB_09_the_bound_can_be_switched_off_and_max_frames_stays) {
  remora_sampling sampling = greedy(0);
  sampling.max_frames_per_byte = 5;
  const remora_prompt prompt = text_prompt("Hi");
  for (const auto& [per_byte, max_frames, expected] : {std::tuple{5.0F, 0, 74U},
                                                       {5.0F, 10, 10U},
                                                       {5.0F, 500, 74U},
                                                       {1.0F, 0, 66U},
                                                       {0.0F, 90, 90U}}) {
    sampling.max_frames_per_byte = per_byte;
    sampling.max_frames = max_frames;
    const auto session = session_with(sampling);
    ASSERT_OK(remora_session_prefill(session.get(), &prompt));
    EXPECT_EQ(run_frames(session.get(), kCodebooks).size(), expected) << per_byte << max_frames;
    EXPECT_EQ(stats_of(session.get()).finish, REMORA_FINISH_LENGTH);
  }
}

TEST_F(LengthTest, RB_11_texts_that_loop_end_at_their_bound_and_say_so) {
  const std::string radio = "radio (AM / FM set) radio (AM / FM set) radio (AM / FM set)";
  for (const std::string& text : {std::string("The final total is 4821"),
                                  std::string("Points -300, -300, 300 and 300"), radio}) {
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      const auto session = session_with(defaults(seed));
      const remora_prompt prompt = text_prompt(text);
      ASSERT_OK(remora_session_prefill(session.get(), &prompt));
      const auto frames = run_frames(session.get(), kCodebooks);
      const remora_stats stats = stats_of(session.get());
      const size_t bound = 64 + 5 * text.size();
      EXPECT_LE(frames.size(), bound);
      EXPECT_EQ(stats.finish,
                frames.size() == bound ? REMORA_FINISH_LENGTH : REMORA_FINISH_END_TOKEN);
    }
  }
}

}  // namespace
}  // namespace remora::capi_test
