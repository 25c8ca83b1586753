// remora_session_logits: what frames are drawn from, as the caller gets it.
#include <algorithm>
#include <cstring>

#include "capi_test.h"
#include "kept_logits.h"

namespace remora::capi_test {
namespace {

// The token of an entry of codebook 0's logits, by the header's rule.
int32_t token_of(const remora_model_info& info, size_t entry) {
  std::vector<int32_t> tokens{info.end_token};
  for (int32_t token = info.semantic_begin; token <= info.semantic_end; ++token) {
    tokens.push_back(token);
  }
  std::sort(tokens.begin(), tokens.end());
  return tokens.at(entry);
}

class LogitsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { model_ = open_model("s2pro_tiny", false).release(); }
  static void TearDownTestSuite() {
    remora_model_destroy(model_);
    model_ = nullptr;
  }
  static remora_status hello(remora_session* session) {
    const remora_prompt prompt = text_prompt("Hello world.");
    return remora_session_prefill(session, &prompt);
  }

  static remora_model* model_;
};
remora_model* LogitsTest::model_ = nullptr;

TEST_F(LogitsTest, GreedyCodesAreTheArgmaxOfWhatIsKept) {
  const remora_model_info info = describe(model_);
  const auto session = keeping_session(model_);
  ASSERT_OK(hello(session.get()));
  for (int i = 0; i < 6; ++i) {
    const std::vector<float> slow = logits(session.get(), 0);
    const std::vector<int32_t> codes = step(session.get());
    EXPECT_EQ(token_of(info, argmax(slow)) - info.semantic_begin, codes[0]);
    for (int32_t codebook = 1; codebook < kCodebooks; ++codebook) {
      EXPECT_EQ(static_cast<int32_t>(argmax(logits(session.get(), codebook))),
                codes[static_cast<size_t>(codebook)]);
    }
  }
}

TEST_F(LogitsTest, TheEndTokenIsAnEntryAndShowsAfterTheEnd) {
  const remora_model_info info = describe(model_);
  const auto session = keeping_session(model_);
  const remora_sampling sampling = greedy(14);
  ASSERT_OK(remora_session_set_sampling(session.get(), &sampling));
  // The reference says of this one that it ends by itself before its bound.
  remora_prompt prompt = text_prompt("<|speaker:0|>Hi there, how are you?");
  prompt.flags = REMORA_PROMPT_ALLOW_CONTROL;
  ASSERT_OK(remora_session_prefill(session.get(), &prompt));
  ASSERT_LT(run_frames(session.get(), kCodebooks).size(), 14U);
  EXPECT_EQ(token_of(info, argmax(logits(session.get(), 0))), info.end_token);
  EXPECT_FALSE(logits(session.get(), 1).empty()) << "of the last frame that was made";
}

TEST_F(LogitsTest, KeepingChangesNoResult) {
  const auto keeping = keeping_session(model_);
  const auto plain = open_session(model_);
  const remora_sampling sampling = greedy(8);
  ASSERT_OK(remora_session_set_sampling(plain.get(), &sampling));
  ASSERT_OK(hello(keeping.get()));
  ASSERT_OK(hello(plain.get()));
  EXPECT_EQ(run_frames(keeping.get(), kCodebooks), run_frames(plain.get(), kCodebooks));
}

TEST_F(LogitsTest, WithoutTheFlagTheErrorNamesIt) {
  const auto session = open_session(model_);
  ASSERT_OK(hello(session.get()));
  ASSERT_OK(remora_session_step(session.get(), nullptr));
  for (int32_t codebook = 0; codebook < kCodebooks; ++codebook) {
    float value = 7;
    size_t needed = 0;
    EXPECT_EQ(remora_session_logits(session.get(), codebook, &value, 1, &needed),
              REMORA_E_INVALID_STATE);
    EXPECT_NE(std::strstr(remora_last_error(), "REMORA_SESSION_KEEP_LOGITS"), nullptr)
        << remora_last_error();
    EXPECT_EQ(value, 7);
  }
  EXPECT_OK(remora_session_step(session.get(), nullptr));
}

TEST_F(LogitsTest, UnknownFlagsAreRefused) {
  remora_session_params params;
  ASSERT_OK(remora_session_params_init(&params, sizeof params));
  for (const uint32_t flags : {2U, 1U << 31, 3U}) {
    params.flags = flags;
    remora_session* session = nullptr;
    EXPECT_EQ(remora_session_create(model_, &params, &session), REMORA_E_INVALID_ARGUMENT);
    EXPECT_EQ(session, nullptr);
    EXPECT_NE(std::strstr(remora_last_error(), "session_params.flags"), nullptr);
  }
}

TEST_F(LogitsTest, EachHasItsTime) {
  const auto session = keeping_session(model_);
  const auto status = [&](int32_t codebook) {
    size_t needed = 0;
    return remora_session_logits(session.get(), codebook, nullptr, 0, &needed);
  };
  EXPECT_EQ(status(0), REMORA_E_INVALID_STATE);
  EXPECT_EQ(status(1), REMORA_E_INVALID_STATE);
  ASSERT_OK(hello(session.get()));
  EXPECT_OK(status(0));
  EXPECT_EQ(status(1), REMORA_E_INVALID_STATE);
  EXPECT_NE(std::strstr(remora_last_error(), "step"), nullptr) << remora_last_error();
  step(session.get());
  EXPECT_OK(status(0));
  EXPECT_OK(status(kCodebooks - 1));

  ASSERT_OK(hello(session.get()));
  EXPECT_EQ(status(1), REMORA_E_INVALID_STATE) << "frames of an earlier prompt are no last frame";
  step(session.get());
  ASSERT_OK(remora_session_rewind(session.get(), 5));
  EXPECT_OK(status(0));
  EXPECT_EQ(status(1), REMORA_E_INVALID_STATE);
  ASSERT_OK(remora_session_reset(session.get()));
  EXPECT_EQ(status(0), REMORA_E_INVALID_STATE);
  ASSERT_OK(remora_session_warmup(session.get()));
  EXPECT_EQ(status(0), REMORA_E_INVALID_STATE);
  EXPECT_EQ(status(1), REMORA_E_INVALID_STATE);

  remora_session_cancel(session.get());
  EXPECT_EQ(hello(session.get()), REMORA_E_CANCELLED);
  EXPECT_EQ(status(0), REMORA_E_INVALID_STATE);
}

TEST_F(LogitsTest, RewindCloneAndLoadShowTheLogitsOfTheLastColumn) {
  const auto session = keeping_session(model_);
  ASSERT_OK(hello(session.get()));
  const int64_t prompt = remora_session_position(session.get());
  const std::vector<float> after_prompt = logits(session.get(), 0);
  step(session.get());
  const std::vector<float> after_one = logits(session.get(), 0);
  const std::vector<float> last_code = logits(session.get(), kCodebooks - 1);
  step(session.get());
  EXPECT_NE(logits(session.get(), 0), after_one);

  remora_session* raw = nullptr;
  ASSERT_OK(remora_session_clone(session.get(), &raw));
  const Owned<remora_session> clone(raw);
  for (int32_t codebook = 0; codebook < kCodebooks; ++codebook) {
    EXPECT_EQ(logits(clone.get(), codebook), logits(session.get(), codebook));
  }
  const std::vector<float> of_clone = logits(clone.get(), 1);
  step(session.get());
  EXPECT_EQ(logits(clone.get(), 1), of_clone) << "a clone keeps its own";
  step(clone.get());
  EXPECT_EQ(logits(clone.get(), 1), logits(session.get(), 1));

  ASSERT_OK(remora_session_rewind(session.get(), prompt + 1));
  EXPECT_EQ(logits(session.get(), 0), after_one);
  ASSERT_OK(remora_session_rewind(session.get(), prompt));
  EXPECT_EQ(logits(session.get(), 0), after_prompt);

  size_t needed = 0;
  ASSERT_OK(remora_session_save(session.get(), nullptr, 0, &needed));
  std::vector<char> bytes(needed);
  ASSERT_OK(remora_session_save(session.get(), bytes.data(), needed, &needed));
  ASSERT_OK(remora_session_load(clone.get(), bytes.data(), bytes.size()));
  EXPECT_EQ(logits(clone.get(), 0), after_prompt);
  EXPECT_EQ(remora_session_logits(clone.get(), 1, nullptr, 0, &needed), REMORA_E_INVALID_STATE);
  ASSERT_OK(hello(clone.get()));
  step(clone.get());
  EXPECT_EQ(logits(clone.get(), kCodebooks - 1), last_code);
}

TEST_F(LogitsTest, TheBufferRulesHold) {
  const auto session = keeping_session(model_);
  ASSERT_OK(hello(session.get()));
  size_t needed = 0;
  ASSERT_OK(remora_session_logits(session.get(), 0, nullptr, 0, &needed));
  ASSERT_GT(needed, 1U);
  std::vector<float> values(needed, 7);
  size_t again = 0;
  EXPECT_EQ(remora_session_logits(session.get(), 0, values.data(), needed - 1, &again),
            REMORA_E_BUFFER_TOO_SMALL);
  EXPECT_EQ(again, needed);
  EXPECT_EQ(values, std::vector<float>(needed, 7));
  EXPECT_EQ(remora_session_logits(session.get(), 0, nullptr, 1, &again), REMORA_E_INVALID_ARGUMENT);
  EXPECT_OK(remora_session_logits(session.get(), 0, values.data(), needed, nullptr));
  EXPECT_EQ(remora_session_logits(nullptr, 0, nullptr, 0, &again), REMORA_E_INVALID_ARGUMENT);
  for (const int32_t codebook : {-1, kCodebooks, INT32_MIN, INT32_MAX}) {
    EXPECT_EQ(remora_session_logits(session.get(), codebook, nullptr, 0, &again),
              REMORA_E_INVALID_ARGUMENT)
        << codebook;
    EXPECT_NE(std::strstr(remora_last_error(), "codebook"), nullptr);
  }
  EXPECT_OK(remora_session_step(session.get(), nullptr)) << "a refused question harms nothing";
}

}  // namespace
}  // namespace remora::capi_test
