#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <thread>

#include "capi_test.h"

namespace remora::capi_test {
namespace {

constexpr int32_t kCodebooks = 6;
constexpr size_t kFrameSamples = 2048;

class SessionTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { model_ = open_model("s2pro_tiny", true).release(); }
  static void TearDownTestSuite() {
    remora_model_destroy(model_);
    model_ = nullptr;
  }

  static Owned<remora_session> greedy_session(int32_t frames,
                                              const remora_session_params* params = nullptr) {
    auto session = open_session(model_, params);
    const remora_sampling sampling = greedy(frames);
    EXPECT_OK(remora_session_set_sampling(session.get(), &sampling));
    return session;
  }
  static remora_status prefill(remora_session* session, const std::string& text,
                               uint32_t flags = 0) {
    remora_prompt prompt = text_prompt(text);
    prompt.flags = flags;
    return remora_session_prefill(session, &prompt);
  }
  static remora_stats stats(const remora_session* session) {
    remora_stats out{};
    out.struct_size = sizeof out;
    EXPECT_OK(remora_session_stats(session, &out));
    return out;
  }
  static std::vector<float> read_all(remora_session* session) {
    std::vector<float> pcm;
    std::vector<float> block(3000);
    while (true) {
      size_t n = 0;
      const remora_status status = remora_session_read_pcm(session, block.data(), block.size(), &n);
      pcm.insert(pcm.end(), block.begin(), block.begin() + static_cast<long>(n));
      if (status == REMORA_END) return pcm;
      EXPECT_EQ(status, REMORA_OK) << remora_last_error();
      if (status != REMORA_OK) return pcm;
    }
  }

  static remora_model* model_;
};
remora_model* SessionTest::model_ = nullptr;

TEST_F(SessionTest, KvLenGoesThreeFourFive) {
  const auto session = greedy_session(8);
  const std::vector<int32_t> columns = [] {
    std::vector<int32_t> matrix(7 * 3, 0);
    matrix[0] = 1, matrix[1] = 2, matrix[2] = 3;
    return matrix;
  }();
  remora_prompt prompt;
  ASSERT_OK(remora_prompt_init(&prompt, sizeof prompt));
  prompt.tokens = columns.data();
  prompt.n_tokens = 3;
  ASSERT_OK(remora_session_prefill(session.get(), &prompt));
  EXPECT_EQ(stats(session.get()).kv_len, 3);
  ASSERT_OK(remora_session_step(session.get(), nullptr));
  EXPECT_EQ(stats(session.get()).kv_len, 4);
  ASSERT_OK(remora_session_step(session.get(), nullptr));
  EXPECT_EQ(stats(session.get()).kv_len, 5);
  EXPECT_EQ(remora_session_position(session.get()), 5);
}

TEST_F(SessionTest, StepNeedsAPromptAndEndsOnce) {
  const auto session = greedy_session(3);
  EXPECT_EQ(remora_session_step(session.get(), nullptr), REMORA_E_INVALID_STATE);
  ASSERT_OK(prefill(session.get(), "Hello world."));
  for (int i = 0; i < 3; ++i) EXPECT_OK(remora_session_step(session.get(), nullptr));
  EXPECT_EQ(remora_session_step(session.get(), nullptr), REMORA_END);
  EXPECT_EQ(remora_session_step(session.get(), nullptr), REMORA_END);
  const remora_stats after = stats(session.get());
  EXPECT_EQ(after.finish, REMORA_FINISH_LENGTH);
  EXPECT_EQ(after.frames, 3U);
  EXPECT_EQ(after.text_done, 12U);
}

TEST_F(SessionTest, AFrameBufferThatIsTooSmallLosesNothing) {
  const auto session = greedy_session(2);
  ASSERT_OK(prefill(session.get(), "Hello world."));
  int32_t codes[kCodebooks];
  remora_frame frame{};
  frame.struct_size = sizeof frame;
  frame.codes = codes;
  frame.codes_capacity = kCodebooks - 1;
  EXPECT_EQ(remora_session_step(session.get(), &frame), REMORA_E_BUFFER_TOO_SMALL);
  EXPECT_EQ(frame.n_codes, kCodebooks);
  frame.codes_capacity = kCodebooks;
  EXPECT_OK(remora_session_step(session.get(), &frame));
  EXPECT_EQ(stats(session.get()).frames, 1U);
}

TEST_F(SessionTest, SoundIsFramesTimesFrameLengthAndEqualsTheWholeDecode) {
  const auto session = greedy_session(29);
  ASSERT_OK(prefill(session.get(), "Hello world."));
  std::vector<float> pcm;
  std::vector<float> block(kFrameSamples * 12);
  std::vector<int32_t> by_frame;
  while (true) {
    int32_t codes[kCodebooks];
    remora_frame frame{};
    frame.struct_size = sizeof frame;
    frame.codes = codes;
    frame.codes_capacity = kCodebooks;
    const remora_status status = remora_session_step(session.get(), &frame);
    if (status == REMORA_END) break;
    ASSERT_EQ(status, REMORA_OK) << remora_last_error();
    by_frame.insert(by_frame.end(), codes, codes + kCodebooks);
    size_t n = 0;
    ASSERT_OK(remora_session_read_pcm(session.get(), block.data(), block.size(), &n));
    pcm.insert(pcm.end(), block.begin(), block.begin() + static_cast<long>(n));
  }
  EXPECT_GT(pcm.size(), 0U) << "sound comes while frames are still being made";
  const std::vector<float> rest = read_all(session.get());
  pcm.insert(pcm.end(), rest.begin(), rest.end());

  const size_t frames = by_frame.size() / kCodebooks;
  ASSERT_EQ(pcm.size(), frames * kFrameSamples);
  EXPECT_EQ(stats(session.get()).samples, pcm.size());
  std::vector<int32_t> matrix(by_frame.size());
  for (size_t i = 0; i < frames; ++i) {
    for (size_t row = 0; row < kCodebooks; ++row) {
      matrix[row * frames + i] = by_frame[i * kCodebooks + row];
    }
  }
  size_t needed = 0;
  std::vector<float> whole(frames * kFrameSamples);
  ASSERT_OK(
      remora_codec_decode(model_, matrix.data(), frames, whole.data(), whole.size(), &needed));
  float worst = 0;
  for (size_t i = 0; i < whole.size(); ++i) worst = std::max(worst, std::abs(whole[i] - pcm[i]));
  EXPECT_LE(worst, 2e-5F);  // other piece lengths, other orders of summation
}

struct Heard {
  std::vector<float> pcm;
  int calls = 0;
  int lasts = 0;
  int stop_at = -1;
  remora_session* cancel = nullptr;
  remora_session* destroy = nullptr;
};

int32_t REMORA_CALL hear(void* user, const float* pcm, size_t n, int32_t last) {
  auto& heard = *static_cast<Heard*>(user);
  EXPECT_EQ(heard.lasts, 0) << "nothing comes after the last piece";
  heard.pcm.insert(heard.pcm.end(), pcm, pcm + n);
  heard.lasts += last != 0;
  if (heard.cancel != nullptr) remora_session_cancel(heard.cancel);
  if (heard.destroy != nullptr) remora_session_destroy(std::exchange(heard.destroy, nullptr));
  return ++heard.calls == heard.stop_at ? 1 : 0;
}

TEST_F(SessionTest, APromptThatDoesNotFitIsRefusedBeforeAnyWork) {
  remora_session_params params;
  ASSERT_OK(remora_session_params_init(&params, sizeof params));
  params.capacity = 34 + 10;  // "Hello world." has 34 columns
  const auto session = greedy_session(11, &params);
  EXPECT_EQ(prefill(session.get(), "Hello world."), REMORA_E_CONTEXT_FULL);
  for (const char* number : {"34", "11", "44"}) {
    EXPECT_NE(std::strstr(remora_last_error(), number), nullptr) << remora_last_error();
  }
  EXPECT_EQ(stats(session.get()).kv_len, 0);
  const remora_sampling fits = greedy(10);
  ASSERT_OK(remora_session_set_sampling(session.get(), &fits));
  ASSERT_OK(prefill(session.get(), "Hello world."));
  EXPECT_EQ(run_frames(session.get(), kCodebooks).size(), 10U) << "the last slot is used";
  EXPECT_EQ(stats(session.get()).kv_len, 44);
}

TEST_F(SessionTest, WithoutABoundTheCapacityEndsIt) {
  remora_session_params params;
  ASSERT_OK(remora_session_params_init(&params, sizeof params));
  params.capacity = 40;
  const auto session = greedy_session(0, &params);
  ASSERT_OK(prefill(session.get(), "Hello world."));
  EXPECT_EQ(run_frames(session.get(), kCodebooks).size(), 6U);
  EXPECT_EQ(stats(session.get()).finish, REMORA_FINISH_CAPACITY);
}

TEST_F(SessionTest, CancelHoldsUntilReset) {
  const auto session = greedy_session(10);
  remora_session_cancel(session.get());
  remora_session_cancel(session.get());
  EXPECT_EQ(prefill(session.get(), "Hello world."), REMORA_E_CANCELLED);
  EXPECT_EQ(remora_session_step(session.get(), nullptr), REMORA_E_INVALID_STATE);
  EXPECT_EQ(stats(session.get()).finish, REMORA_FINISH_CANCELLED);
  ASSERT_OK(remora_session_reset(session.get()));
  ASSERT_OK(prefill(session.get(), "Hello world."));
  EXPECT_EQ(run_frames(session.get(), kCodebooks).size(), 10U);
  remora_session_cancel(nullptr);
}

TEST_F(SessionTest, CallbacksMayStopCancelAndDestroy) {
  const remora_prompt prompt = text_prompt("Hello world.");
  {
    const auto session = greedy_session(40);
    Heard heard;
    heard.stop_at = 2;
    EXPECT_EQ(remora_session_generate(session.get(), &prompt, hear, &heard), REMORA_E_CANCELLED);
    EXPECT_EQ(heard.calls, 2);
  }
  {
    const auto session = greedy_session(40);
    Heard heard;
    heard.cancel = session.get();
    EXPECT_EQ(remora_session_generate(session.get(), &prompt, hear, &heard), REMORA_E_CANCELLED);
    EXPECT_EQ(heard.calls, 1);
  }
  {
    remora_session* session = greedy_session(40).release();
    Heard heard;
    heard.destroy = session;
    EXPECT_EQ(remora_session_generate(session, &prompt, hear, &heard), REMORA_E_CANCELLED);
    EXPECT_EQ(heard.calls, 1);
  }
}

std::atomic<int> g_slow_calls{0};

// A listener that takes its time, so that another thread meets the call while it runs.
int32_t REMORA_CALL listen_slowly(void*, const float*, size_t, int32_t) {
  ++g_slow_calls;
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return 0;
}

TEST_F(SessionTest, RB_54_destroy_stops_the_running_call_and_waits_for_it) {
  for (int round = 0; round < 10; ++round) {
    remora_session* session = greedy_session(200).release();
    g_slow_calls = 0;
    remora_status status = REMORA_OK;
    std::thread worker([&] {
      const remora_prompt prompt = text_prompt("Hello world.");
      status = remora_session_generate(session, &prompt, listen_slowly, nullptr);
    });
    while (g_slow_calls == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    remora_session_destroy(session);
    const int calls = g_slow_calls;  // destroy has returned: none may follow
    worker.join();
    EXPECT_EQ(status, REMORA_E_CANCELLED);
    EXPECT_EQ(g_slow_calls, calls);
  }
}

int32_t REMORA_CALL ask_from_another_thread(void* user, const float*, size_t, int32_t) {
  auto* session = static_cast<remora_session*>(user);
  int64_t answer = 0;
  std::thread([&] { answer = remora_session_position(session); }).join();
  EXPECT_EQ(answer, REMORA_E_BUSY);
  EXPECT_EQ(remora_session_position(session), REMORA_E_BUSY) << "a callback is inside a call too";
  return 0;
}

TEST_F(SessionTest, ASecondCallWhileOneRunsIsRefused) {
  const auto session = greedy_session(6);
  const remora_prompt prompt = text_prompt("Hello world.");
  EXPECT_OK(
      remora_session_generate(session.get(), &prompt, ask_from_another_thread, session.get()));
}

TEST_F(SessionTest, AnyDestroyOrderWorks) {
  remora_model* model = open_model("s2pro_tiny", true).release();
  std::vector<int32_t> codes(kCodebooks * 4, 1);
  remora_voice* voice = nullptr;
  ASSERT_OK(remora_voice_from_codes(model, codes.data(), 4, "words", 5, &voice));
  remora_session* session = open_session(model).release();
  const remora_sampling sampling = greedy(3);
  ASSERT_OK(remora_session_set_sampling(session, &sampling));
  remora_model_destroy(model);
  remora_prompt prompt = text_prompt("Hello.");
  const remora_voice* voices[] = {voice};
  prompt.voices = voices;
  prompt.n_voices = 1;
  ASSERT_OK(remora_session_prefill(session, &prompt));
  remora_voice_destroy(voice);
  EXPECT_EQ(run_frames(session, kCodebooks).size(), 3U);
  remora_session_destroy(session);
}

void REMORA_CALL keep_lines(void* user, remora_log_level level, const char* utf8, size_t len) {
  if (level == REMORA_LOG_WARN) static_cast<std::string*>(user)->append(utf8, len).append("\n");
}

TEST_F(SessionTest, RB_22_typed_control_tokens_are_said_and_warned_about) {
  std::string lines;
  ASSERT_OK(remora_set_log(keep_lines, &lines, REMORA_LOG_WARN));
  const auto session = greedy_session(1);
  EXPECT_OK(prefill(session.get(), "Hello <|im_end|> there, <|speaker: 1|>you."));
  EXPECT_OK(remora_set_log(nullptr, nullptr, REMORA_LOG_ERROR));
  EXPECT_NE(lines.find("<|im_end|>"), std::string::npos) << lines;
  EXPECT_NE(lines.find("<|speaker: 1|>"), std::string::npos) << lines;
}

TEST_F(SessionTest, RB_17_nothing_to_say_is_refused_at_once) {
  const auto session = greedy_session(3);
  for (const std::string text :
       {"", "   ", "\n\n", "... !?", "\xE3\x80\x82\xEF\xBC\x81", "[whisper]", "<|speaker:0|>"}) {
    EXPECT_EQ(prefill(session.get(), text), REMORA_E_INVALID_ARGUMENT) << text;
    EXPECT_NE(std::strstr(remora_last_error(), "nothing to say"), nullptr) << remora_last_error();
  }
  remora_prompt prompt;
  ASSERT_OK(remora_prompt_init(&prompt, sizeof prompt));
  EXPECT_EQ(remora_session_prefill(session.get(), &prompt), REMORA_E_INVALID_ARGUMENT);
  EXPECT_OK(prefill(session.get(), "Hello."));
}

TEST_F(SessionTest, RB_25_invalid_utf8_names_the_byte) {
  const auto session = greedy_session(1);
  EXPECT_EQ(prefill(session.get(), "abc\xFF"), REMORA_E_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(remora_last_error(), "byte 3"), nullptr) << remora_last_error();
  EXPECT_EQ(prefill(session.get(), std::string("a\0b", 3)), REMORA_E_INVALID_ARGUMENT);
  EXPECT_OK(prefill(session.get(), "\xEF\xBB\xBFHello."));
}

TEST_F(SessionTest, ContinueKeepsTheConversation) {
  const auto session = greedy_session(5);
  ASSERT_OK(prefill(session.get(), "First."));
  run_frames(session.get(), kCodebooks);
  const int64_t before = remora_session_position(session.get());
  ASSERT_OK(prefill(session.get(), "Second.", REMORA_PROMPT_CONTINUE));
  const remora_stats with_context = stats(session.get());
  EXPECT_EQ(with_context.reused_tokens, static_cast<uint64_t>(before));
  EXPECT_GT(with_context.prompt_tokens, static_cast<uint64_t>(before));
  ASSERT_OK(prefill(session.get(), "Second."));
  EXPECT_LT(stats(session.get()).prompt_tokens, with_context.prompt_tokens);
}

}  // namespace
}  // namespace remora::capi_test
