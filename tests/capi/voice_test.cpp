#include <cstring>

#include "capi_test.h"

namespace remora::capi_test {
namespace {

class VoiceTest : public testing::Test {
 protected:
  Owned<remora_voice> make(const std::string& transcript = "Some words.") {
    for (size_t i = 0; i < codes_.size(); ++i) codes_[i] = static_cast<int32_t>(i * 7 % 128);
    remora_voice* voice = nullptr;
    EXPECT_OK(remora_voice_from_codes(model_.get(), codes_.data(), 9, transcript.data(),
                                      transcript.size(), &voice));
    return Owned<remora_voice>(voice);
  }
  std::vector<int32_t> prompt_of(const remora_voice* voice) {
    remora_prompt prompt = text_prompt("Hello.");
    const remora_voice* voices[] = {voice};
    prompt.voices = voices;
    prompt.n_voices = 1;
    size_t needed = 0;
    EXPECT_OK(remora_model_prompt(model_.get(), &prompt, nullptr, 0, &needed));
    std::vector<int32_t> tokens(needed);
    EXPECT_OK(remora_model_prompt(model_.get(), &prompt, tokens.data(), needed, &needed));
    return tokens;
  }
  std::vector<char> saved(const remora_voice* voice) {
    size_t needed = 0;
    EXPECT_OK(remora_voice_save(voice, nullptr, 0, &needed));
    std::vector<char> bytes(needed);
    EXPECT_EQ(remora_voice_save(voice, bytes.data(), needed - 1, &needed),
              REMORA_E_BUFFER_TOO_SMALL);
    EXPECT_OK(remora_voice_save(voice, bytes.data(), needed, &needed));
    return bytes;
  }

  const Owned<remora_model> model_ = open_model("s2pro_tiny", false);
  std::vector<int32_t> codes_ = std::vector<int32_t>(6 * 9);
};

TEST_F(VoiceTest, SavedAndLoadedItGivesTheSamePrompt) {
  const auto voice = make("Слова, 言葉 and words.");
  const std::vector<char> bytes = saved(voice.get());
  remora_voice* raw = nullptr;
  ASSERT_OK(remora_voice_load(model_.get(), bytes.data(), bytes.size(), &raw));
  const Owned<remora_voice> loaded(raw);
  EXPECT_EQ(prompt_of(loaded.get()), prompt_of(voice.get()));
}

TEST_F(VoiceTest, EveryCutAndEveryChangedByteIsRefused) {
  const std::vector<char> bytes = saved(make().get());
  for (size_t n = 0; n < bytes.size(); ++n) {
    remora_voice* voice = nullptr;
    EXPECT_EQ(remora_voice_load(model_.get(), bytes.data(), n, &voice), REMORA_E_FORMAT) << n;
    EXPECT_EQ(voice, nullptr);
    std::vector<char> changed = bytes;
    changed[n] = static_cast<char>(changed[n] ^ 0x10);
    EXPECT_EQ(remora_voice_load(model_.get(), changed.data(), changed.size(), &voice),
              REMORA_E_FORMAT)
        << n;
  }
}

TEST_F(VoiceTest, AVoiceOfAnotherModelIsRefusedWithBothShapes) {
  const std::vector<char> bytes = saved(make().get());
  const auto other = open_model("s1mini_tiny", false);
  remora_voice* voice = nullptr;
  EXPECT_EQ(remora_voice_load(other.get(), bytes.data(), bytes.size(), &voice),
            REMORA_E_INVALID_ARGUMENT);
  for (const char* number : {"6 codebooks", "128", "has 4", "1100"}) {
    EXPECT_NE(std::strstr(remora_last_error(), number), nullptr) << remora_last_error();
  }
}

TEST_F(VoiceTest, CodesOutOfRangeNamePlaceAndRange) {
  codes_[6 * 9 - 1] = 128;
  remora_voice* voice = nullptr;
  EXPECT_EQ(remora_voice_from_codes(model_.get(), codes_.data(), 9, "words", 5, &voice),
            REMORA_E_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(remora_last_error(), "code 128 of codebook 5, frame 8"), nullptr)
      << remora_last_error();
  EXPECT_EQ(remora_voice_from_codes(model_.get(), codes_.data(), 0, "words", 5, &voice),
            REMORA_E_INVALID_ARGUMENT);
}

TEST_F(VoiceTest, RB_29_a_reference_needs_both_sound_and_words) {
  remora_voice* voice = nullptr;
  for (const std::string transcript : {"", "   ", "\n"}) {
    EXPECT_EQ(remora_voice_from_codes(model_.get(), codes_.data(), 9, transcript.data(),
                                      transcript.size(), &voice),
              REMORA_E_INVALID_ARGUMENT);
    EXPECT_NE(std::strstr(remora_last_error(), "transcript"), nullptr) << remora_last_error();
  }
  EXPECT_EQ(remora_voice_from_codes(model_.get(), nullptr, 9, "words", 5, &voice),
            REMORA_E_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace remora::capi_test
