// A recording and its words become a voice: each way to be unfit has an error of its own.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <limits>

#include "capi_test.h"

namespace remora::capi_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr int32_t kRate = 44100;

std::vector<float> tone(double seconds, int32_t rate = kRate, float level = 0.5F) {
  std::vector<float> out(static_cast<size_t>(std::lround(seconds * rate)));
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = level * static_cast<float>(std::sin(2 * M_PI * 220 * static_cast<double>(i) / rate));
  }
  return out;
}

void REMORA_CALL keep_warnings(void* user, remora_log_level level, const char* utf8, size_t len) {
  if (level == REMORA_LOG_WARN) static_cast<std::string*>(user)->append(utf8, len).append("\n");
}

class ReferenceTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { model_ = open_tiny("s2-pro").release(); }
  static void TearDownTestSuite() {
    remora_model_destroy(model_);
    model_ = nullptr;
  }
  static Owned<remora_voice> voice_of(const std::vector<float>& pcm, int32_t rate = kRate,
                                      const std::string& words = "Some words.") {
    remora_voice* voice = nullptr;
    status_ = remora_voice_create(model_, pcm.data(), pcm.size(), 1, rate, words.data(),
                                  words.size(), &voice);
    return Owned<remora_voice>(voice);
  }
  // The error of a recording that must not become a voice.
  static std::string error_of(const std::vector<float>& pcm, int32_t rate = kRate,
                              const std::string& words = "Some words.") {
    const auto voice = voice_of(pcm, rate, words);
    EXPECT_EQ(status_, REMORA_E_INVALID_ARGUMENT);
    EXPECT_EQ(voice, nullptr);
    return remora_last_error();
  }
  // The error of a file with this content, which must be of REMORA_E_FORMAT.
  static std::string error_of_file(const std::string& name, const std::string& content) {
    const std::string path = testing::TempDir() + name;
    std::ofstream(path, std::ios::binary) << content;
    remora_voice* voice = nullptr;
    EXPECT_EQ(remora_voice_open(model_, path.c_str(), "words", 5, &voice), REMORA_E_FORMAT);
    EXPECT_EQ(voice, nullptr);
    std::remove(path.c_str());
    return remora_last_error();
  }
  static std::string warnings_while(const std::function<void()>& work) {
    std::string lines;
    EXPECT_OK(remora_set_log(keep_warnings, &lines, REMORA_LOG_WARN));
    work();
    EXPECT_OK(remora_set_log(nullptr, nullptr, REMORA_LOG_ERROR));
    return lines;
  }

  static remora_model* model_;
  static remora_status status_;
};
remora_model* ReferenceTest::model_ = nullptr;
remora_status ReferenceTest::status_ = REMORA_OK;

TEST_F(ReferenceTest, TooShort) {
  EXPECT_THAT(error_of(tone(0.19)), HasSubstr("0.19 seconds of sound; at least 0.2 are needed"));
  EXPECT_NE(voice_of(tone(0.2)), nullptr) << remora_last_error();
}

TEST_F(ReferenceTest, Silent) {
  EXPECT_THAT(error_of(tone(1, kRate, 1e-5F)), HasSubstr("nothing but silence"));
  EXPECT_NE(voice_of(tone(1, kRate, 1e-3F)), nullptr) << "quiet is not silent";
}

TEST_F(ReferenceTest, Empty) {
  remora_voice* voice = nullptr;
  const float sample = 0;
  EXPECT_EQ(remora_voice_create(model_, &sample, 0, 1, kRate, "words", 5, &voice),
            REMORA_E_INVALID_ARGUMENT);
  EXPECT_THAT(remora_last_error(), HasSubstr("holds no sound"));
}

TEST_F(ReferenceTest, EmptyFile) {
  EXPECT_THAT(error_of_file("remora_empty_reference", ""),
              AllOf(HasSubstr("remora_empty_reference: "), HasSubstr("an empty file")));
}

TEST_F(ReferenceTest, GarbageInAFile) {
  EXPECT_THAT(error_of_file("remora_garbage_reference", "no sound, only letters"),
              AllOf(HasSubstr("remora_garbage_reference: "), HasSubstr("not readable as sound")));
}

TEST_F(ReferenceTest, NoNumbersCountAsSilenceAndAreToldOf) {
  std::vector<float> pcm = tone(0.5);
  pcm[10] = std::numeric_limits<float>::quiet_NaN();
  pcm[20] = -std::numeric_limits<float>::infinity();
  EXPECT_THAT(warnings_while([&] { EXPECT_NE(voice_of(pcm), nullptr); }),
              HasSubstr("2 samples were NaN or infinite"));
}

TEST_F(ReferenceTest, LongIsAWarning) {
  std::string words;
  for (int i = 0; i < 90; ++i) words += "One second. ";
  EXPECT_EQ(warnings_while([&] { EXPECT_NE(voice_of(tone(90, 8000), 8000, words), nullptr); }), "");
  EXPECT_THAT(warnings_while([&] { EXPECT_NE(voice_of(tone(91, 8000), 8000, words), nullptr); }),
              AllOf(HasSubstr("91 s of reference"), HasSubstr("10 to 30 s")));
}

TEST_F(ReferenceTest, TooLong) {
  EXPECT_THAT(error_of(tone(601, 4000), 4000), HasSubstr("longer than 600 seconds"));
}

TEST_F(ReferenceTest, LargerThanTheContext) {
  const auto voice = voice_of(tone(3));
  ASSERT_NE(voice, nullptr);
  remora_session_params params;
  ASSERT_OK(remora_session_params_init(&params, sizeof params));
  params.capacity = 50;  // three seconds alone are 65 frames
  const auto session = open_session(model_, &params);
  remora_prompt prompt = text_prompt("Hello.");
  const remora_voice* voices[] = {voice.get()};
  prompt.voices = voices;
  prompt.n_voices = 1;
  EXPECT_EQ(remora_session_prefill(session.get(), &prompt), REMORA_E_CONTEXT_FULL);
  EXPECT_THAT(remora_last_error(),
              AllOf(HasSubstr("the capacity is 50"), HasSubstr("shorten the text or voice")));
  prompt.n_voices = 0;
  prompt.voices = nullptr;
  EXPECT_OK(remora_session_prefill(session.get(), &prompt)) << "nothing has changed";
}

TEST_F(ReferenceTest, RatesThatAreNotConverted) {
  for (const int32_t rate : {3999, 192001, 0, -1}) {
    EXPECT_THAT(error_of(tone(1), rate), HasSubstr(std::to_string(rate)));
  }
}

TEST_F(ReferenceTest, RB_29_sound_without_its_words) {
  for (const std::string words : {"", "  ", "\r\n\t"}) {
    EXPECT_THAT(error_of(tone(1), kRate, words), HasSubstr("the transcript is empty"));
  }
}

TEST_F(ReferenceTest, RB_29_words_without_their_sound) {
  remora_voice* voice = nullptr;
  EXPECT_EQ(remora_voice_create(model_, nullptr, kRate, 1, kRate, "words", 5, &voice),
            REMORA_E_INVALID_ARGUMENT);
  EXPECT_THAT(remora_last_error(), HasSubstr("interleaved"));
  const int32_t code = 0;
  EXPECT_EQ(remora_voice_from_codes(model_, &code, 0, "words", 5, &voice),
            REMORA_E_INVALID_ARGUMENT);
  EXPECT_THAT(remora_last_error(), HasSubstr("the reference has no frames"));
  EXPECT_EQ(remora_voice_from_codes(model_, nullptr, 9, "words", 5, &voice),
            REMORA_E_INVALID_ARGUMENT);
  EXPECT_THAT(remora_last_error(), HasSubstr("codes"));
}

}  // namespace
}  // namespace remora::capi_test
