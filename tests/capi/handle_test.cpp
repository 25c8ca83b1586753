// Handles that are used after their destroy, destroyed twice, or of another kind: caught in builds
// with asserts on. In release builds nothing is read that would tell.
#include <cstring>

#include "capi_test.h"
#include "live_objects.h"

namespace remora::capi_test {
namespace {

TEST(Handles, EveryObjectIsCountedAndGoneWhenItIsDestroyed) {
  ASSERT_EQ(live_objects(), "");
  remora_model* model = open_tiny("s2-pro").release();
  EXPECT_EQ(live_objects(), "1 model handle, 1 model, 1 codec");
  remora_session* session = open_session(model).release();
  EXPECT_EQ(live_objects(),
            "1 model handle, 1 session handle, 1 model, 1 session, 1 codec, 1 decode stream");
  remora_model_destroy(model);
  EXPECT_EQ(live_objects(), "1 session handle, 1 model, 1 session, 1 codec, 1 decode stream")
      << "a session keeps its model";
  remora_session_destroy(session);
  EXPECT_EQ(live_objects(), "");
}

#ifndef NDEBUG

void expect_text(const char* part) {
  EXPECT_NE(std::strstr(remora_last_error(), part), nullptr) << remora_last_error();
}

TEST(Handles, RB_54_use_after_destroy_is_an_error_in_debug_builds) {
  const auto model = open_tiny("s2-pro");
  remora_session* session = open_session(model.get()).release();
  remora_session_destroy(session);
  EXPECT_EQ(remora_session_step(session, nullptr), REMORA_E_INVALID_STATE);
  expect_text("session: was destroyed");
  EXPECT_EQ(remora_session_position(session), REMORA_E_INVALID_STATE);
  remora_session_cancel(session);
  remora_session_destroy(session);
  expect_text("session: was destroyed");

  remora_codec_stream* stream = nullptr;
  ASSERT_OK(remora_codec_stream_create(model.get(), &stream));
  remora_codec_stream_destroy(stream);
  EXPECT_EQ(remora_codec_stream_reset(stream), REMORA_E_INVALID_STATE);
  expect_text("stream: was destroyed");

  remora_source* source = nullptr;
  ASSERT_OK(remora_source_create(&source));
  remora_source_destroy(source);
  EXPECT_EQ(remora_source_add_dir(source, "."), REMORA_E_INVALID_STATE);
  expect_text("source: was destroyed");
}

TEST(Handles, RB_54_a_destroyed_voice_in_a_prompt_is_named) {
  const auto model = open_model("s2pro_tiny", false);
  const std::vector<int32_t> codes(6 * 4, 1);
  remora_voice* voice = nullptr;
  ASSERT_OK(remora_voice_from_codes(model.get(), codes.data(), 4, "words", 5, &voice));
  const remora_voice* voices[] = {voice};
  remora_prompt prompt = text_prompt("Hello.");
  prompt.voices = voices;
  prompt.n_voices = 1;
  const auto session = open_session(model.get());
  remora_voice_destroy(voice);
  EXPECT_EQ(remora_session_prefill(session.get(), &prompt), REMORA_E_INVALID_STATE);
  expect_text("prompt.voices[0]: was destroyed");
  prompt.n_voices = 0;
  EXPECT_OK(remora_session_prefill(session.get(), &prompt));
}

TEST(Handles, AHandleOfAnotherKindIsAnErrorInDebugBuilds) {
  const auto model = open_model("s2pro_tiny", false);
  auto* session = reinterpret_cast<remora_session*>(model.get());
  EXPECT_EQ(remora_session_step(session, nullptr), REMORA_E_INVALID_STATE);
  expect_text("another kind");
  remora_session_destroy(session);
  EXPECT_OK(remora_session_create(model.get(), nullptr, &session)) << "the model is untouched";
  remora_session_destroy(session);
}

#endif

}  // namespace
}  // namespace remora::capi_test
