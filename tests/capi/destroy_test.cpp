// Stop buttons: cancel and destroy at any moment, from any thread, from inside a callback.
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "capi_test.h"
#include "live_objects.h"

namespace remora::capi_test {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

class DestroyTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { model_ = open_model("s2pro_tiny", true).release(); }
  static void TearDownTestSuite() {
    remora_model_destroy(model_);
    model_ = nullptr;
  }
  static Owned<remora_session> new_session(int32_t frames) {
    auto session = open_session(model_);
    const remora_sampling sampling = greedy(frames);
    EXPECT_OK(remora_session_set_sampling(session.get(), &sampling));
    return session;
  }
  static remora_model* model_;
};
remora_model* DestroyTest::model_ = nullptr;

// A listener seen from two threads.
struct Listener {
  std::atomic<int> calls{0};
  std::atomic<bool> closed{false};  // nothing may come any more
  std::atomic<int> late{0};
  std::vector<float> pcm;

  void wait_for(int n) const {
    while (calls < n) std::this_thread::sleep_for(microseconds(100));
  }
  static int32_t REMORA_CALL hear(void* user, const float* pcm, size_t n, int32_t /*last*/) {
    auto& self = *static_cast<Listener*>(user);
    self.late += self.closed ? 1 : 0;
    self.pcm.insert(self.pcm.end(), pcm, pcm + n);
    ++self.calls;
    return 0;
  }
};

remora_status speak(remora_session* session, Listener& listener) {
  const remora_prompt prompt = text_prompt("Hello world.");
  return remora_session_generate(session, &prompt, Listener::hear, &listener);
}

TEST_F(DestroyTest, RB_54_cancel_then_destroy_at_once) {
  for (int round = 0; round < 20; ++round) {
    remora_session* session = new_session(2000).release();
    Listener listener;
    remora_status status = REMORA_OK;
    std::thread worker([&] { status = speak(session, listener); });
    listener.wait_for(1 + round % 3);
    remora_session_cancel(session);
    remora_session_destroy(session);
    listener.closed = true;
    worker.join();
    EXPECT_EQ(status, REMORA_E_CANCELLED);
    EXPECT_EQ(listener.late, 0) << "a callback came after destroy had returned";
  }
}

TEST_F(DestroyTest, RB_54_cancel_twice_and_when_nothing_runs) {
  const auto session = new_session(8);
  remora_session_cancel(session.get());
  remora_session_cancel(session.get());
  Listener listener;
  EXPECT_EQ(speak(session.get(), listener), REMORA_E_CANCELLED) << "it holds for the next call";
  EXPECT_EQ(listener.calls, 0);
  EXPECT_EQ(speak(session.get(), listener), REMORA_E_INVALID_STATE);
  ASSERT_OK(remora_session_reset(session.get()));
  EXPECT_OK(speak(session.get(), listener));
  remora_session_cancel(session.get());  // after the end
  EXPECT_EQ(remora_session_step(session.get(), nullptr), REMORA_E_CANCELLED);
  ASSERT_OK(remora_session_reset(session.get()));
  EXPECT_OK(speak(session.get(), listener));
}

TEST_F(DestroyTest, RB_54_a_hundred_quick_starts_and_stops) {
  const auto session = new_session(60);
  Listener expected;
  ASSERT_OK(speak(session.get(), expected));
  int cancelled = 0;
  for (int round = 0; round < 100; ++round) {
    Listener listener;
    remora_status status = REMORA_OK;
    std::thread worker([&] { status = speak(session.get(), listener); });
    std::this_thread::sleep_for(microseconds(131 * (round % 16)));
    remora_session_cancel(session.get());
    worker.join();
    ASSERT_TRUE(status == REMORA_E_CANCELLED || status == REMORA_OK) << remora_last_error();
    cancelled += status == REMORA_E_CANCELLED;
    ASSERT_OK(remora_session_reset(session.get()));
  }
  EXPECT_GT(cancelled, 50) << "most were stopped on their way";
  Listener after;
  ASSERT_OK(speak(session.get(), after));
  EXPECT_EQ(after.pcm, expected.pcm) << "bit for bit as before";
}

TEST_F(DestroyTest, RB_54_model_and_voice_destroyed_while_a_session_speaks_with_them) {
  remora_model* model = open_model("s2pro_tiny", true).release();
  remora_session* session = open_session(model).release();
  const remora_sampling sampling = greedy(120);
  ASSERT_OK(remora_session_set_sampling(session, &sampling));
  const std::vector<int32_t> codes(6 * 4, 1);
  remora_voice* voice = nullptr;
  ASSERT_OK(remora_voice_from_codes(model, codes.data(), 4, "words", 5, &voice));
  Listener listener;
  remora_status status = REMORA_E_INTERNAL;
  const remora_voice* voices[] = {voice};
  std::thread worker([&] {
    remora_prompt prompt = text_prompt("Hello world.");
    prompt.voices = voices;
    prompt.n_voices = 1;
    status = remora_session_generate(session, &prompt, Listener::hear, &listener);
  });
  listener.wait_for(1);
  remora_voice_destroy(voice);
  remora_model_destroy(model);
  worker.join();
  EXPECT_OK(status);
  EXPECT_GT(listener.pcm.size(), 0U);
  remora_session_destroy(session);
}

// What a callback does to the session that calls it.
struct Meddler {
  remora_session* session = nullptr;
  int calls = 0;
};

int32_t REMORA_CALL destroy_inside(void* user, const float* /*pcm*/, size_t /*n*/,
                                   int32_t /*last*/) {
  auto& self = *static_cast<Meddler*>(user);
  ++self.calls;
  remora_session_destroy(std::exchange(self.session, nullptr));
  return 0;
}

TEST_F(DestroyTest, RB_54_destroyed_from_inside_its_callback) {
  const std::string before = live_objects();
  Meddler meddler{new_session(200).release()};
  const remora_prompt prompt = text_prompt("Hello world.");
  EXPECT_EQ(remora_session_generate(meddler.session, &prompt, destroy_inside, &meddler),
            REMORA_E_CANCELLED);
  EXPECT_EQ(meddler.calls, 1) << "no callback after destroy";
  EXPECT_EQ(live_objects(), before) << "freed when the call returned";
}

// A callback that destroys what is being read, and one that says stop, wherever it is asked.
struct Loading {
  remora_source* source = nullptr;
  int calls = 0;
  int stop_at = 0;  // the call that says stop; 0 = none
};

int32_t REMORA_CALL watch_load(void* user, float fraction) {
  auto& self = *static_cast<Loading*>(user);
  EXPECT_TRUE(fraction >= 0 && fraction <= 1) << fraction;
  remora_source_destroy(std::exchange(self.source, nullptr));
  return ++self.calls == self.stop_at ? 1 : 0;
}

remora_status load(Loading& loading, remora_model** model) {
  EXPECT_OK(remora_source_create(&loading.source));
  EXPECT_OK(remora_source_add_dir(loading.source, data("lm/s2pro_tiny").c_str()));
  EXPECT_OK(remora_source_add_codec_dir(loading.source, data("codec").c_str()));
  remora_model_params params;
  EXPECT_OK(remora_model_params_init(&params, sizeof params));
  params.progress = watch_load;
  params.progress_user = &loading;
  return remora_model_create(loading.source, &params, model);
}

TEST(DestroyWhileLoading, RB_56_a_progress_callback_stops_a_load_at_every_tensor) {
  Loading whole;
  remora_model* model = nullptr;
  ASSERT_OK(load(whole, &model));
  remora_model_destroy(model);
  EXPECT_GT(whole.calls, 200) << "both files have more tensors than that";
  for (int n = 1; n <= whole.calls; n += 1 + n / 8) {
    Loading loading;
    loading.stop_at = n;
    EXPECT_EQ(load(loading, &model), REMORA_E_CANCELLED) << n;
    EXPECT_EQ(loading.calls, n) << "it is not asked again after it said stop";
    EXPECT_EQ(model, nullptr);
    ASSERT_EQ(live_objects(), "");
  }
  Loading last;
  last.stop_at = whole.calls;
  EXPECT_EQ(load(last, &model), REMORA_E_CANCELLED) << "the last call counts too";
}

TEST_F(DestroyTest, RB_54_audio_callbacks_that_say_stop_end_everything) {
  struct Stop {
    int at;
    int calls = 0;
  };
  const auto stop = [](void* user, const float*, size_t, int32_t) -> int32_t {
    auto& self = *static_cast<Stop*>(user);
    return ++self.calls == self.at ? 1 : 0;
  };
  const remora_prompt prompt = text_prompt("Hello world.");
  const auto session = new_session(60);
  Stop whole{-1};
  ASSERT_OK(remora_session_generate(session.get(), &prompt, stop, &whole));
  for (int n = 1; n <= whole.calls; ++n) {
    Stop one{n};
    EXPECT_EQ(remora_session_generate(session.get(), &prompt, stop, &one), REMORA_E_CANCELLED);
    EXPECT_EQ(one.calls, n);
    EXPECT_EQ(remora_session_step(session.get(), nullptr), REMORA_E_INVALID_STATE);
    ASSERT_OK(remora_session_reset(session.get()));
  }
}

}  // namespace
}  // namespace remora::capi_test
