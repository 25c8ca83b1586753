#include <gmock/gmock.h>
#include <sndfile.h>

#include <cmath>
#include <cstring>

#include "io/archive_builder.h"
#include "io/audio_file.h"
#include "io/memory_source.h"
#include "io/sound_builder.h"
#include "io/temp_dir.h"

namespace remora::test {
namespace {

using io::AudioReader;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string error_for(std::string_view bytes) {
  return error_of([&] { read_sound(bytes); });
}

// Without the last 1000 samples, where lossy codecs know nothing of what would follow.
double worst_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = 0;
  for (size_t i = 0; i + 1000 < std::min(a.size(), b.size()); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return worst;
}

TEST(AudioReader, RB_26_ReadsEveryKindItSaysItReads) {
  const struct {
    int format;
    std::string kind;
    double tolerance;  // quantisation, or a lossy codec's error on a tone of 0.5
  } cases[] = {
      {SF_FORMAT_WAV | SF_FORMAT_PCM_U8, "WAV", 1.0 / 128},
      {SF_FORMAT_WAV | SF_FORMAT_PCM_16, "WAV", 1.0 / 32768},
      {SF_FORMAT_WAV | SF_FORMAT_PCM_24, "WAV", 1.0 / 8388608},
      {SF_FORMAT_WAV | SF_FORMAT_PCM_32, "WAV", 1e-7},
      {SF_FORMAT_WAV | SF_FORMAT_FLOAT, "WAV", 0},
      {SF_FORMAT_WAV | SF_FORMAT_DOUBLE, "WAV", 0},
      {SF_FORMAT_WAV | SF_FORMAT_ULAW, "WAV", 0.02},
      {SF_FORMAT_WAV | SF_FORMAT_MS_ADPCM, "WAV", 0.05},
      {SF_FORMAT_WAVEX | SF_FORMAT_PCM_24, "WAV", 1.0 / 8388608},
      {SF_FORMAT_WAVEX | SF_FORMAT_FLOAT, "WAV", 0},
      {SF_FORMAT_RF64 | SF_FORMAT_PCM_16, "WAV", 1.0 / 32768},
      {SF_FORMAT_WAV | SF_FORMAT_PCM_16 | SF_ENDIAN_BIG, "WAV", 1.0 / 32768},  // RIFX
      {SF_FORMAT_AIFF | SF_FORMAT_PCM_16, "AIFF", 1.0 / 32768},
      {SF_FORMAT_AIFF | SF_FORMAT_FLOAT, "AIFF", 0},
      {SF_FORMAT_AU | SF_FORMAT_PCM_16, "AU", 1.0 / 32768},
      {SF_FORMAT_CAF | SF_FORMAT_PCM_16, "CAF", 1.0 / 32768},
      {SF_FORMAT_FLAC | SF_FORMAT_PCM_16, "FLAC", 1.0 / 32768},
      {SF_FORMAT_FLAC | SF_FORMAT_PCM_24, "FLAC", 1.0 / 8388608},
      {SF_FORMAT_OGG | SF_FORMAT_VORBIS, "OGG", 0.1},
      {SF_FORMAT_OGG | SF_FORMAT_OPUS, "OGG", 0.1},
  };
  for (const auto& item : cases) {
    for (const int channels : {1, 2}) {
      const std::vector<float> samples = tone(48000, 0.5, channels);
      const std::string bytes = made_by_libsndfile(item.format, samples, channels, 48000);
      ASSERT_FALSE(bytes.empty()) << std::hex << item.format;
      const AudioReader reader(memory_source("named.txt", bytes));
      EXPECT_EQ(reader.info().kind, item.kind);
      EXPECT_EQ(reader.info().sample_rate, 48000);
      EXPECT_EQ(reader.info().channels, channels);
      const std::vector<float> out = read_sound(bytes);
      // ADPCM fills its last block.
      EXPECT_GE(out.size(), samples.size()) << std::hex << item.format;
      EXPECT_LT(out.size(), samples.size() + 4096) << std::hex << item.format;
      EXPECT_LE(worst_difference(out, samples), item.tolerance) << std::hex << item.format;
      // A source that is read and not mapped gives the same.
      EXPECT_EQ(read_sound(memory_source("r", bytes, false)), out);
    }
  }
}

TEST(AudioReader, RB_26_ReadsMp3UnderAnyName) {
  const std::vector<float> samples = tone(44100, 1);
  const std::string bytes =
      made_by_libsndfile(SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, samples, 1, 44100);
  if (bytes.empty()) GTEST_SKIP() << "this build of libsndfile writes no MP3";
  EXPECT_EQ(AudioReader(memory_source("voice.wav", bytes)).info().kind, "MP3");
  const std::vector<float> out = read_sound(bytes);
  // The encoder pads with up to two frames of 1152.
  EXPECT_NEAR(static_cast<double>(out.size()), 44100, 2 * 1152);
}

TEST(AudioReader, Mp3TagsJunkAndWrongCountsDoNotMatterAndNothingIsPrinted) {
  const std::string bytes =
      made_by_libsndfile(SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, tone(44100, 1), 1, 44100);
  if (bytes.empty()) GTEST_SKIP() << "this build of libsndfile writes no MP3";
  testing::internal::CaptureStderr();
  const std::vector<float> good = read_sound(bytes);
  const std::string id3 = "ID3" + std::string("\x04\0\0\0\0\x02\x10", 7) + std::string(272, '\xff');
  EXPECT_EQ(read_sound(id3 + bytes), good);
  EXPECT_EQ(read_sound(bytes + "TAG" + std::string(125, ' ')), good);
  EXPECT_EQ(read_sound(bytes + std::string(5000, '\xff')), good);
  // Cut, which makes the encoder's counts wrong.
  const std::vector<float> half = read_sound(std::string_view(bytes).substr(0, bytes.size() / 2));
  EXPECT_GT(half.size(), 44100u / 3);
  EXPECT_LT(half.size(), good.size());
  // Junk in the middle costs a few frames.
  const std::string junk =
      bytes.substr(0, bytes.size() / 2) + std::string(999, '\x55') + bytes.substr(bytes.size() / 2);
  EXPECT_GT(read_sound(junk).size(), good.size() - 8 * 1152);
  for (size_t length = 4; length < 2000; length += 7) {
    error_of([&] { read_sound(std::string_view(bytes).substr(0, length)); });
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(AudioReader, FloatFilesKeepTheirBits) {
  const std::vector<float> odd{0.1f, -0.0f, 1e-42f, 3.5f, -1e30f};
  const std::vector<float> out =
      read_sound(made_by_libsndfile(SF_FORMAT_WAV | SF_FORMAT_FLOAT, odd, 1, 44100));
  ASSERT_EQ(out.size(), odd.size());
  EXPECT_EQ(std::memcmp(out.data(), odd.data(), odd.size() * sizeof(float)), 0);
}

TEST(AudioReader, RB_31_EveryCutOfEveryKindIsSamplesOrAnError) {
  for (const int format : {SF_FORMAT_WAV | SF_FORMAT_PCM_16, SF_FORMAT_WAV | SF_FORMAT_MS_ADPCM,
                           SF_FORMAT_AIFF | SF_FORMAT_PCM_16, SF_FORMAT_FLAC | SF_FORMAT_PCM_16,
                           SF_FORMAT_OGG | SF_FORMAT_VORBIS, SF_FORMAT_OGG | SF_FORMAT_OPUS,
                           SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III}) {
    const std::string whole = made_by_libsndfile(format, tone(48000, 0.5), 1, 48000);
    const size_t full = whole.empty() ? 0 : read_sound(whole).size();
    for (size_t length = 0; length < whole.size(); length += 1 + whole.size() / 60) {
      std::vector<float> out;
      const std::string error =
          error_of([&] { out = read_sound(std::string_view(whole).substr(0, length)); });
      EXPECT_LE(out.size(), full) << std::hex << format << " cut at " << length;
      EXPECT_THAT(error, testing::AnyOf("", StartsWith("REMORA_E_FORMAT: f.wav: not readable")));
    }
  }
}

TEST(AudioReader, RB_26_OtherFilesAreRefusedByWhatTheyAre) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "an empty file"},
      {"Dear diary, today I sang.", "a text file"},
      {std::string("\0\0\0\x20"
                   "ftypM4A \0\0\0\0",
                   16),
       "an MP4 or M4A file"},
      {"\x1A\x45\xDF\xA3webm", "WebM"},
      {"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"},
      {"<!DOCTYPE html>", "a web page"},
      {std::string("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0b\x0c\x0e"), "no sound file"},
      {"RIFF" + little(4, 4) + "WAVE", "WAV, "},
      {"fLaC" + std::string(100, 'x'), "FLAC, "},
      {"OggS" + std::string(100, 'x'), "OGG, "},
      {"ID3" + std::string(100, '\xff'), "MP3, "},
      {wav({two_seconds(), UINT64_MAX, UINT64_MAX, "", "", 1, 0}), "WAV, "},
      {wav({two_seconds(), UINT64_MAX, UINT64_MAX, "", "", 0x1234}), "WAV, "}};
  for (const auto& [bytes, reason] : cases) {
    EXPECT_THAT(error_for(bytes),
                AllOf(StartsWith("REMORA_E_FORMAT: f.wav: not readable as sound: "),
                      HasSubstr(reason), HasSubstr("this build reads WAV, ")))
        << testing::PrintToString(bytes.substr(0, 20));
  }
}

TEST(AudioReader, RB_26_MissingFilesAndFoldersAreNamed) {
  const TempDir dir("говор é #1");
  EXPECT_THAT(error_of([&] { io::describe_audio(dir.path("none.wav")); }),
              AllOf(HasSubstr("REMORA_E_IO"), HasSubstr("говор é #1/none.wav")));
  EXPECT_THAT(error_of([&] { io::describe_audio(dir.path()); }), HasSubstr("REMORA_E_IO"));
  const io::AudioInfo info = io::describe_audio(dir.write("голос.wav", wav({two_seconds()})));
  EXPECT_EQ(info.sample_rate, 16000);
  EXPECT_EQ(info.frames, 32000u);
  EXPECT_EQ(info.kind, "WAV");
}

TEST(AudioReader, RB_31_StopsAtTheLongestThatIsTaken) {
  const std::string bytes = wav({two_seconds()});  // 2 s
  const auto read_at_most = [&](double seconds) {
    return error_of([&] {
      AudioReader reader(memory_source("f.wav", bytes), seconds);
      while (!reader.read().empty()) continue;
    });
  };
  EXPECT_EQ(read_at_most(2), "");
  EXPECT_THAT(
      read_at_most(1.9),
      AllOf(HasSubstr("REMORA_E_INVALID_ARGUMENT: f.wav: longer than 1.9"), HasSubstr("shorter")));
}

TEST(AudioReader, AnErrorOfTheSourceComesThroughTheDecoder) {
  // Readable at first: the header is fine, the samples are not.
  class Failing final : public io::ByteSource {
   public:
    explicit Failing(std::string bytes) : ByteSource("net"), bytes_(std::move(bytes)) {}
    uint64_t size() const override { return bytes_.size(); }
    void read_at(uint64_t offset, std::span<std::byte> dst) const override {
      if (offset > 20000) throw Error(Status::kCallback, "net: the line is dead");
      std::memcpy(dst.data(), bytes_.data() + offset, dst.size());
    }

   private:
    std::string bytes_;
  };
  for (const int format : {SF_FORMAT_WAV | SF_FORMAT_PCM_16, SF_FORMAT_FLAC | SF_FORMAT_PCM_16}) {
    // Noise, which no codec makes smaller than the dead place.
    std::vector<float> noise(48000);
    uint32_t state = 1;
    for (float& x : noise)
      x = static_cast<float>((state = state * 1664525 + 1013904223) >> 8) / (1 << 24);
    const std::string bytes = made_by_libsndfile(format, noise, 1, 48000);
    EXPECT_EQ(error_of([&] { read_sound(std::make_shared<Failing>(bytes)); }),
              "REMORA_E_CALLBACK: net: the line is dead");
  }
}

}  // namespace
}  // namespace remora::test
