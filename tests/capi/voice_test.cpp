#include <cstring>

#include "capi_test.h"

namespace remora::capi_test {
namespace {

class VoiceTest : public testing::Test {
 protected:
  Owned<remora_voice> make(const std::string& transcript = "Some words.") {
    return make_for(model_.get(), transcript);
  }
  Owned<remora_voice> make_for(const remora_model* model,
                               const std::string& transcript = "Words.") {
    for (size_t i = 0; i < codes_.size(); ++i) codes_[i] = static_cast<int32_t>(i * 7 % 128);
    remora_voice* voice = nullptr;
    EXPECT_OK(remora_voice_from_codes(model, codes_.data(), 9, transcript.data(), transcript.size(),
                                      &voice));
    return Owned<remora_voice>(voice);
  }
  static Owned<remora_voice> load(const remora_model* model, const std::vector<char>& bytes) {
    remora_voice* voice = nullptr;
    EXPECT_OK(remora_voice_load(model, bytes.data(), bytes.size(), &voice));
    return Owned<remora_voice>(voice);
  }
  // The status of asking `model` for a prompt with the voice.
  static remora_status use(const remora_model* model, const remora_voice* voice,
                           std::vector<int32_t>* tokens = nullptr) {
    remora_prompt prompt = text_prompt("Hello.");
    const remora_voice* voices[] = {voice};
    prompt.voices = voices;
    prompt.n_voices = 1;
    size_t needed = 0;
    const remora_status status = remora_model_prompt(model, &prompt, nullptr, 0, &needed);
    if (status != REMORA_OK || tokens == nullptr) return status;
    tokens->resize(needed);
    return remora_model_prompt(model, &prompt, tokens->data(), needed, &needed);
  }
  std::vector<int32_t> prompt_of(const remora_voice* voice) {
    std::vector<int32_t> tokens;
    EXPECT_OK(use(model_.get(), voice, &tokens));
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

TEST_F(VoiceTest, AVoiceOfAnotherCodecIsRefusedAndBothAreNamed) {
  const auto mine = open_model("s2pro_tiny", true);
  const auto other = open_model_with_other_codec("s2pro_tiny");
  const auto voice = make_for(mine.get());
  const std::vector<char> bytes = saved(voice.get());
  EXPECT_OK(use(mine.get(), load(mine.get(), bytes).get()));

  remora_voice* raw = nullptr;
  EXPECT_EQ(remora_voice_load(other.get(), bytes.data(), bytes.size(), &raw),
            REMORA_E_INVALID_ARGUMENT);
  const std::string there = remora_last_error();
  EXPECT_NE(there.find("made with the codec "), std::string::npos) << there;
  // A voice that was never saved is held to the same rule.
  EXPECT_EQ(use(other.get(), voice.get()), REMORA_E_INVALID_ARGUMENT);
  EXPECT_EQ(remora_last_error(), there);

  // The other way round the same two codecs are named in the other order.
  const auto codec_behind = [](const std::string& text, const std::string& words) {
    const size_t begin = text.find(words) + words.size();
    return text.substr(begin, text.find_first_not_of("0123456789abcdef", begin) - begin);
  };
  EXPECT_EQ(use(mine.get(), make_for(other.get()).get()), REMORA_E_INVALID_ARGUMENT);
  const std::string back = remora_last_error();
  const std::string first = codec_behind(there, "made with the codec ");
  EXPECT_GT(first.size(), 8U) << there;
  EXPECT_EQ(codec_behind(back, "the model has the codec "), first) << back;
  EXPECT_EQ(codec_behind(back, "made with the codec "),
            codec_behind(there, "the model has the codec "));
}

TEST_F(VoiceTest, ACodecThatIsNotKnownFitsEveryOne) {
  const auto mine = open_model("s2pro_tiny", true);
  const auto other = open_model_with_other_codec("s2pro_tiny");
  // Made by a model without a codec.
  const std::vector<char> unknown = saved(make().get());
  EXPECT_OK(use(mine.get(), load(mine.get(), unknown).get()));
  EXPECT_OK(use(other.get(), load(other.get(), unknown).get()));
  // Passing through a model without a codec, a voice does not forget where it comes from.
  const std::vector<char> bytes = saved(make_for(mine.get()).get());
  const auto passing = load(model_.get(), bytes);
  EXPECT_OK(use(model_.get(), passing.get()));
  EXPECT_EQ(saved(passing.get()), bytes);
  EXPECT_EQ(use(other.get(), passing.get()), REMORA_E_INVALID_ARGUMENT);
}

TEST_F(VoiceTest, AnotherVersionIsNamed) {
  std::vector<char> bytes = saved(make().get());
  bytes[8] = 1;
  remora_voice* voice = nullptr;
  EXPECT_EQ(remora_voice_load(model_.get(), bytes.data(), bytes.size(), &voice), REMORA_E_FORMAT);
  EXPECT_NE(std::strstr(remora_last_error(), "version 1, this library reads 2"), nullptr)
      << remora_last_error();
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
