// Recordings as references: what is read, at which rate, and what a half-filled request gets.
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "capi_test.h"

namespace remora::capi_test {
namespace {

namespace fs = std::filesystem;

std::vector<float> tone(double seconds, int32_t rate) {
  std::vector<float> out(static_cast<size_t>(std::lround(seconds * rate)));
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = 0.5F * static_cast<float>(std::sin(2 * M_PI * 1000 * static_cast<double>(i) / rate));
  }
  return out;
}

void REMORA_CALL keep_warnings(void* user, remora_log_level level, const char* utf8, size_t len) {
  if (level == REMORA_LOG_WARN) static_cast<std::string*>(user)->append(utf8, len).append("\n");
}

class RecordingTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { model_ = open_tiny("s2-pro").release(); }
  static void TearDownTestSuite() {
    remora_model_destroy(model_);
    model_ = nullptr;
  }
  RecordingTest()
      : folder_(fs::path(testing::TempDir()) / ("remora_reference_" + std::to_string(getpid()))) {
    fs::create_directories(folder_);
    EXPECT_OK(remora_set_log(keep_warnings, &warnings_, REMORA_LOG_WARN));
  }
  ~RecordingTest() override {
    EXPECT_OK(remora_set_log(nullptr, nullptr, REMORA_LOG_ERROR));
    fs::remove_all(folder_);
  }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, std::string_view bytes) const {
    std::ofstream(path(name), std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path(name);
  }
  static std::vector<char> saved(const remora_voice* voice) {
    size_t needed = 0;
    EXPECT_OK(remora_voice_save(voice, nullptr, 0, &needed));
    std::vector<char> bytes(needed);
    EXPECT_OK(remora_voice_save(voice, bytes.data(), needed, &needed));
    return bytes;
  }
  // The voice of a file, as bytes; empty when it is refused.
  static std::vector<char> from_file(const std::string& path,
                                     const std::string& transcript = "words") {
    remora_voice* raw = nullptr;
    const remora_status status =
        remora_voice_open(model_, path.c_str(), transcript.data(), transcript.size(), &raw);
    const Owned<remora_voice> voice(raw);
    return status == REMORA_OK ? saved(raw) : std::vector<char>();
  }
  static std::vector<char> from_samples(const std::vector<float>& pcm, int32_t rate,
                                        const std::string& transcript = "words") {
    remora_voice* raw = nullptr;
    EXPECT_OK(remora_voice_create(model_, pcm.data(), pcm.size(), 1, rate, transcript.data(),
                                  transcript.size(), &raw));
    const Owned<remora_voice> voice(raw);
    return saved(raw);
  }
  remora_status open_status(const std::string& path) const {
    remora_voice* voice = nullptr;
    const remora_status status = remora_voice_open(model_, path.c_str(), "words", 5, &voice);
    EXPECT_EQ(voice, nullptr);
    return status;
  }

  const fs::path folder_;
  std::string warnings_;
  static remora_model* model_;
};
remora_model* RecordingTest::model_ = nullptr;

TEST_F(RecordingTest, RB_26_content_decides_and_a_file_gives_the_codes_of_its_samples) {
  const struct {
    remora_audio_format format;
    int32_t rate;
  } kinds[] = {{REMORA_AUDIO_WAV_PCM16, 44100},
               {REMORA_AUDIO_WAV_FLOAT, 44100},
               {REMORA_AUDIO_FLAC16, 44100},
               {REMORA_AUDIO_OGG_OPUS, 48000}};
  for (const auto& [format, rate] : kinds) {
    // Each under the name of another kind.
    const std::string file = path(format == REMORA_AUDIO_FLAC16 ? "clip.wav" : "clip.txt");
    const std::vector<float> pcm = tone(5, rate);
    ASSERT_OK(remora_audio_write(file.c_str(), pcm.data(), pcm.size(), 1, rate, format));
    size_t needed = 0;
    ASSERT_OK(remora_audio_read(file.c_str(), nullptr, 0, &needed));
    std::vector<float> samples(needed);
    ASSERT_OK(remora_audio_read(file.c_str(), samples.data(), needed, &needed));
    EXPECT_EQ(from_file(file), from_samples(samples, rate)) << format;
  }
}

TEST_F(RecordingTest, RB_26_what_cannot_be_read_is_told_at_once_with_what_can) {
  const std::string mp4(
      "\0\0\0\x20"
      "ftypM4A \0\0\0\0",
      16);
  for (const std::string& file : {write("clip.m4a", mp4), write("m4a.wav", mp4),
                                  write("text.wav", "Dear diary."), write("empty.wav", "")}) {
    EXPECT_EQ(open_status(file), REMORA_E_FORMAT) << file;
    for (const std::string& part : {file, std::string("this build reads WAV, ")}) {
      EXPECT_NE(std::strstr(remora_last_error(), part.c_str()), nullptr) << remora_last_error();
    }
  }
  EXPECT_EQ(open_status(path("none.wav")), REMORA_E_IO);
  EXPECT_EQ(open_status(folder_.string()), REMORA_E_IO);
  EXPECT_NE(std::strstr(remora_last_error(), folder_.c_str()), nullptr) << remora_last_error();
}

TEST_F(RecordingTest, RB_27_every_rate_gives_three_seconds_of_frames) {
  remora_model_info info{};
  info.struct_size = sizeof info;
  ASSERT_OK(remora_model_describe(model_, &info));
  EXPECT_EQ(info.sample_rate, 44100) << "what every output is labelled with";
  for (const int32_t rate : {8000, 11025, 16000, 22050, 24000, 44100, 48000, 96000, 192000}) {
    const std::vector<float> pcm = tone(3, rate);
    std::vector<int32_t> codes(static_cast<size_t>(info.n_codebooks) * 80);
    size_t needed = 0;
    ASSERT_OK(remora_codec_encode(model_, pcm.data(), pcm.size(), 1, rate, codes.data(),
                                  codes.size(), &needed));
    EXPECT_EQ(needed, static_cast<size_t>(info.n_codebooks) * 65) << rate;  // 3 s are 64.6 frames
  }
}

TEST_F(RecordingTest, RB_29_no_voice_is_a_voice_of_its_own_and_a_missing_one_an_error) {
  const auto session = open_session(model_);
  remora_prompt prompt = text_prompt("Hello.");
  EXPECT_OK(remora_session_prefill(session.get(), &prompt));
  const remora_voice* voices[] = {nullptr};
  prompt.voices = voices;
  prompt.n_voices = 1;
  EXPECT_EQ(remora_session_prefill(session.get(), &prompt), REMORA_E_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(remora_last_error(), "voices"), nullptr) << remora_last_error();
  prompt.voices = nullptr;
  EXPECT_EQ(remora_session_prefill(session.get(), &prompt), REMORA_E_INVALID_ARGUMENT);
}

TEST_F(RecordingTest, RB_29_a_transcript_of_another_length_is_warned_about) {
  std::string two_hundred_words;
  for (int i = 0; i < 200; ++i) two_hundred_words += "word ";
  const auto warnings_for = [&](size_t frames, const std::string& transcript) {
    warnings_.clear();
    const std::vector<int32_t> codes(4 * frames, 1);
    remora_voice* voice = nullptr;
    EXPECT_OK(remora_voice_from_codes(model_, codes.data(), frames, transcript.data(),
                                      transcript.size(), &voice));
    remora_voice_destroy(voice);
    return warnings_;
  };
  constexpr size_t kThreeSeconds = 65, kTwentySeconds = 431;
  EXPECT_EQ(warnings_for(kThreeSeconds, "Three seconds hold about eight words."), "");
  EXPECT_EQ(warnings_for(kTwentySeconds, two_hundred_words.substr(0, 300)), "");
  EXPECT_NE(
      warnings_for(kThreeSeconds, two_hundred_words).find("1000 bytes of transcript for 65 frames"),
      std::string::npos)
      << warnings_;
  EXPECT_NE(warnings_for(kTwentySeconds, "Hi").find("2 bytes of transcript for 431 frames"),
            std::string::npos)
      << warnings_;
}

TEST_F(RecordingTest, RB_31_a_streamed_wav_saved_to_disk_is_a_reference) {
  const std::vector<float> pcm = tone(2, 44100);
  std::string bytes(64, '\0');
  size_t needed = 0;
  ASSERT_OK(remora_audio_stream_header(REMORA_AUDIO_WAV_FLOAT, 1, 44100, bytes.data(), bytes.size(),
                                       &needed));
  bytes.resize(needed);
  bytes.append(reinterpret_cast<const char*>(pcm.data()), pcm.size() * sizeof(float));
  const std::string file = write("streamed.wav", bytes);
  EXPECT_EQ(from_file(file), from_samples(pcm, 44100));
  EXPECT_EQ(warnings_, "");
  // Cut in the middle of a sample: the whole ones count.
  const std::string cut = write("cut.wav", std::string_view(bytes).substr(0, bytes.size() - 3));
  EXPECT_EQ(from_file(cut), from_samples({pcm.begin(), pcm.end() - 1}, 44100));
}

}  // namespace
}  // namespace remora::capi_test
