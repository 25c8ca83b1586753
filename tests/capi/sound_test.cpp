// Sound in: encode, voices from sound, audio files.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

#include "capi_test.h"
#include "support/golden.h"

namespace remora::capi_test {
namespace {

std::vector<float> tone(size_t frames, double rate) {
  std::vector<float> out(frames);
  for (size_t i = 0; i < frames; ++i) {
    out[i] = 0.5F * static_cast<float>(std::sin(2 * M_PI * 220 * static_cast<double>(i) / rate));
  }
  return out;
}

void REMORA_CALL keep_warnings(void* user, remora_log_level level, const char* utf8, size_t len) {
  if (level == REMORA_LOG_WARN) static_cast<std::string*>(user)->append(utf8, len).append("\n");
}

class SoundTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { model_ = open_tiny("s2-pro").release(); }
  static void TearDownTestSuite() {
    remora_model_destroy(model_);
    model_ = nullptr;
  }
  static std::string temp(const std::string& name) {
    return testing::TempDir() + "remora_sound_" + name;
  }
  static remora_model* model_;
};
remora_model* SoundTest::model_ = nullptr;

TEST_F(SoundTest, EncodesTheReferenceClipsAtTheirCodes) {
  remora_source* source = nullptr;
  ASSERT_OK(remora_source_create(&source));
  const Owned<remora_source> owned(source);
  ASSERT_OK(remora_source_add_codec_dir(source, data("codec").c_str()));
  remora_model_params params;
  ASSERT_OK(remora_model_params_init(&params, sizeof params));
  params.flags = REMORA_MODEL_NO_LM;
  remora_model* raw = nullptr;
  ASSERT_OK(remora_model_create(source, &params, &raw));
  const Owned<remora_model> codec(raw);

  const test::Golden golden("codec/encode.safetensors");
  for (const std::string name : {"sweep", "speech", "silence", "odd1", "odd2049"}) {
    // Stored as 16-bit samples.
    const at::Tensor wav = golden["audio." + name].to(at::kFloat).div(32768).contiguous();
    const at::Tensor expected = golden["codes." + name].to(at::kInt).contiguous();
    size_t needed = 0;
    ASSERT_OK(remora_codec_encode(codec.get(), wav.const_data_ptr<float>(),
                                  static_cast<size_t>(wav.numel()), 1, 44100, nullptr, 0, &needed));
    ASSERT_EQ(needed, static_cast<size_t>(expected.numel())) << name;
    std::vector<int32_t> codes(needed);
    ASSERT_OK(remora_codec_encode(codec.get(), wav.const_data_ptr<float>(),
                                  static_cast<size_t>(wav.numel()), 1, 44100, codes.data(), needed,
                                  &needed));
    EXPECT_EQ(std::memcmp(codes.data(), expected.const_data_ptr<int32_t>(), needed * 4), 0) << name;
  }
}

TEST_F(SoundTest, EncodeMixesChannelsAndConvertsRates) {
  const std::vector<float> mono = tone(22050, 22050);
  std::vector<float> stereo;
  for (const float sample : mono) stereo.insert(stereo.end(), {1.5F * sample, 0.5F * sample});
  remora_model_info info{};
  info.struct_size = sizeof info;
  ASSERT_OK(remora_model_describe(model_, &info));
  const auto n_codes = static_cast<size_t>(info.n_codebooks);
  std::vector<int32_t> from_mono(n_codes * 22), from_stereo(n_codes * 22);
  size_t needed = 0;
  ASSERT_OK(remora_codec_encode(model_, mono.data(), mono.size(), 1, 22050, from_mono.data(),
                                from_mono.size(), &needed));
  EXPECT_EQ(needed, n_codes * 22) << "one second is 21.5 frames";
  ASSERT_OK(remora_codec_encode(model_, stereo.data(), mono.size(), 2, 22050, from_stereo.data(),
                                from_stereo.size(), &needed));
  EXPECT_EQ(from_mono, from_stereo);
}

TEST_F(SoundTest, AFileGivesTheSameVoiceAsItsSamples) {
  const std::vector<float> pcm = tone(30000, 44100);
  const std::string path = temp("voice.wav");
  ASSERT_OK(
      remora_audio_write(path.c_str(), pcm.data(), pcm.size(), 1, 44100, REMORA_AUDIO_WAV_FLOAT));
  remora_voice* from_file = nullptr;
  remora_voice* from_pcm = nullptr;
  ASSERT_OK(remora_voice_open(model_, path.c_str(), "words", 5, &from_file));
  ASSERT_OK(remora_voice_create(model_, pcm.data(), pcm.size(), 1, 44100, "words", 5, &from_pcm));
  auto bytes = [](const remora_voice* voice) {
    size_t needed = 0;
    EXPECT_OK(remora_voice_save(voice, nullptr, 0, &needed));
    std::vector<char> out(needed);
    EXPECT_OK(remora_voice_save(voice, out.data(), needed, &needed));
    return out;
  };
  EXPECT_EQ(bytes(from_file), bytes(from_pcm));
  remora_voice_destroy(from_file);
  remora_voice_destroy(from_pcm);
  std::remove(path.c_str());
  EXPECT_EQ(remora_voice_open(model_, path.c_str(), "words", 5, &from_file), REMORA_E_IO);
}

TEST_F(SoundTest, AudioFilesKeepSamplesAndTellTheirShape) {
  std::vector<float> pcm = tone(2000, 8000);
  pcm[3] = std::numeric_limits<float>::quiet_NaN();
  pcm[5] = 2.0F;
  const std::string path = temp("pcm16.wav");
  std::string warnings;
  ASSERT_OK(remora_set_log(keep_warnings, &warnings, REMORA_LOG_WARN));
  ASSERT_OK(remora_audio_write(path.c_str(), pcm.data(), 1000, 2, 8000, REMORA_AUDIO_WAV_PCM16));
  ASSERT_OK(remora_set_log(nullptr, nullptr, REMORA_LOG_ERROR));
  EXPECT_NE(warnings.find("pcm16.wav: 1 samples were NaN"), std::string::npos) << warnings;
  remora_audio_info info{};
  info.struct_size = sizeof info;
  ASSERT_OK(remora_audio_describe(path.c_str(), &info));
  EXPECT_EQ(info.sample_rate, 8000);
  EXPECT_EQ(info.channels, 2);
  EXPECT_EQ(info.frames, 1000U);
  size_t needed = 0;
  ASSERT_OK(remora_audio_read(path.c_str(), nullptr, 0, &needed));
  ASSERT_EQ(needed, 2000U);
  std::vector<float> back(needed);
  ASSERT_OK(remora_audio_read(path.c_str(), back.data(), back.size(), &needed));
  std::vector<int16_t> expected(pcm.size());
  ASSERT_OK(remora_audio_to_s16(pcm.data(), pcm.size(), expected.data()));
  EXPECT_EQ(expected[3], 0);
  EXPECT_EQ(expected[5], 32767);
  for (size_t i = 0; i < back.size(); ++i) {
    ASSERT_EQ(back[i] * 32768.0F, static_cast<float>(expected[i])) << i;
  }
  std::remove(path.c_str());
}

TEST_F(SoundTest, RB_35_a_stream_header_admits_that_the_size_is_unknown) {
  unsigned char header[128];
  size_t needed = 0;
  ASSERT_OK(
      remora_audio_stream_header(REMORA_AUDIO_WAV_PCM16, 1, 44100, header, sizeof header, &needed));
  ASSERT_GE(needed, 44U);
  EXPECT_EQ(std::memcmp(header, "RIFF\xFF\xFF\xFF\xFFWAVE", 12), 0);
  EXPECT_EQ(std::memcmp(header + needed - 8, "data\xFF\xFF\xFF\xFF", 8), 0);
  EXPECT_NE(
      remora_audio_stream_header(REMORA_AUDIO_FLAC16, 1, 44100, header, sizeof header, &needed),
      REMORA_OK);
}

}  // namespace
}  // namespace remora::capi_test
