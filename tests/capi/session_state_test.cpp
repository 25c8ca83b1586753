// rewind, clone, save and load: the state of a session is one thing that can be moved.
#include <cstring>

#include "capi_test.h"

namespace remora::capi_test {
namespace {

constexpr int32_t kCodebooks = 6;
using Frames = std::vector<std::vector<int32_t>>;

class SessionStateTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { model_ = open_model("s2pro_tiny", true).release(); }
  static void TearDownTestSuite() {
    remora_model_destroy(model_);
    model_ = nullptr;
  }

  // Mid-generation: sampled with a seed, `frames` of 24 made, some sound read.
  static Owned<remora_session> started(int32_t frames) {
    auto session = open_session(model_);
    remora_sampling sampling;
    EXPECT_OK(remora_sampling_init(&sampling, sizeof sampling));
    sampling.max_frames = 24;
    sampling.max_frames_per_byte = 0;
    sampling.seed = 7;
    EXPECT_OK(remora_session_set_sampling(session.get(), &sampling));
    const std::string text = "One two three. <|speaker:1|>Four.";
    const remora_prompt prompt = text_prompt(text);
    EXPECT_OK(remora_session_prefill(session.get(), &prompt));
    for (int32_t i = 0; i < frames; ++i) EXPECT_OK(remora_session_step(session.get(), nullptr));
    float pcm[5000];
    size_t n = 0;
    EXPECT_OK(remora_session_read_pcm(session.get(), pcm, 5000, &n));
    return session;
  }
  static std::vector<char> saved(const remora_session* session) {
    size_t needed = 0;
    EXPECT_OK(remora_session_save(session, nullptr, 0, &needed));
    std::vector<char> bytes(needed);
    EXPECT_OK(remora_session_save(session, bytes.data(), bytes.size(), &needed));
    return bytes;
  }
  struct Rest {
    Frames frames;
    std::vector<float> pcm;
  };
  static Rest rest_of(remora_session* session) {
    Rest rest;
    rest.frames = run_frames(session, kCodebooks);
    std::vector<float> block(4096);
    remora_status status = REMORA_OK;
    while (status == REMORA_OK) {
      size_t n = 0;
      status = remora_session_read_pcm(session, block.data(), block.size(), &n);
      rest.pcm.insert(rest.pcm.end(), block.begin(), block.begin() + static_cast<long>(n));
    }
    EXPECT_EQ(status, REMORA_END) << remora_last_error();
    return rest;
  }

  static remora_model* model_;
};
remora_model* SessionStateTest::model_ = nullptr;

TEST_F(SessionStateTest, ACloneGoesOnAlikeAndApart) {
  const auto session = started(9);
  remora_session* raw = nullptr;
  ASSERT_OK(remora_session_clone(session.get(), &raw));
  const Owned<remora_session> clone(raw);
  const Rest of_clone = rest_of(clone.get());
  const Rest of_session = rest_of(session.get());
  EXPECT_FALSE(of_session.frames.empty());
  EXPECT_EQ(of_clone.frames, of_session.frames);
  EXPECT_EQ(of_clone.pcm, of_session.pcm);
}

TEST_F(SessionStateTest, ASavedSessionGoesOnInAnother) {
  const auto session = started(9);
  const std::vector<char> bytes = saved(session.get());
  const Rest expected = rest_of(session.get());
  const auto other = open_session(model_);
  ASSERT_OK(remora_session_load(other.get(), bytes.data(), bytes.size()));
  const Rest rest = rest_of(other.get());
  EXPECT_EQ(rest.frames, expected.frames);
  EXPECT_EQ(rest.pcm, expected.pcm);
}

TEST_F(SessionStateTest, DamagedStateIsRefusedAndChangesNothing) {
  const std::vector<char> bytes = saved(started(5).get());
  const auto session = started(9);
  const int64_t position = remora_session_position(session.get());
  for (size_t cut = 0; cut < bytes.size(); cut += bytes.size() / 40 + 1) {
    EXPECT_EQ(remora_session_load(session.get(), bytes.data(), cut), REMORA_E_FORMAT) << cut;
    std::vector<char> changed = bytes;
    changed[cut] = static_cast<char>(changed[cut] ^ 1);
    EXPECT_EQ(remora_session_load(session.get(), changed.data(), changed.size()), REMORA_E_FORMAT)
        << cut;
  }
  EXPECT_EQ(remora_session_position(session.get()), position);
  EXPECT_FALSE(rest_of(session.get()).frames.empty());
}

TEST_F(SessionStateTest, StateOfAnotherModelIsRefused) {
  const auto other_model = open_model("s1mini_tiny", false);
  const auto other = open_session(other_model.get());
  const remora_prompt prompt = text_prompt("Hello.");
  ASSERT_OK(remora_session_prefill(other.get(), &prompt));
  const std::vector<char> bytes = saved(other.get());
  const auto session = started(3);
  EXPECT_NE(remora_session_load(session.get(), bytes.data(), bytes.size()), REMORA_OK);
  EXPECT_FALSE(rest_of(session.get()).frames.empty()) << "the session goes on as before";
}

TEST_F(SessionStateTest, StateOfAnotherCodecIsRefused) {
  const std::vector<char> bytes = saved(started(5).get());
  const auto other_model = open_model_with_other_codec("s2pro_tiny");
  const auto other = open_session(other_model.get());
  EXPECT_EQ(remora_session_load(other.get(), bytes.data(), bytes.size()),
            REMORA_E_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(remora_last_error(), "another codec"), nullptr) << remora_last_error();
}

TEST_F(SessionStateTest, RewindKeepsThePromptForTheNextRequest) {
  const auto session = started(6);
  const int64_t position = remora_session_position(session.get());
  EXPECT_EQ(remora_session_rewind(session.get(), position + 1), REMORA_E_INVALID_ARGUMENT);
  EXPECT_EQ(remora_session_rewind(session.get(), -1), REMORA_E_INVALID_ARGUMENT);
  ASSERT_OK(remora_session_rewind(session.get(), position - 6));
  EXPECT_EQ(remora_session_position(session.get()), position - 6);
  EXPECT_EQ(remora_session_step(session.get(), nullptr), REMORA_E_INVALID_STATE);
  const std::string text = "One two three. <|speaker:1|>Four.";
  const remora_prompt prompt = text_prompt(text);
  ASSERT_OK(remora_session_prefill(session.get(), &prompt));
  EXPECT_EQ(rest_of(session.get()).frames, rest_of(started(0).get()).frames);
}

}  // namespace
}  // namespace remora::capi_test
