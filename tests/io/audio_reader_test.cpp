#include <gmock/gmock.h>
#include <sndfile.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <numbers>

#include "io/archive_builder.h"
#include "io/audio_file.h"
#include "io/memory_source.h"
#include "io/temp_dir.h"
#include "support/golden.h"

namespace remora::test {
namespace {

using io::AudioReader;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::vector<float> tone(int32_t rate, double seconds, int32_t channels = 1) {
  std::vector<float> out;
  for (int i = 0; i < static_cast<int>(rate * seconds); ++i) {
    for (int c = 0; c < channels; ++c) {
      out.push_back(static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * 440 * i / rate)));
    }
  }
  return out;
}

// A file of `format` (an SF_FORMAT_... sum) with these samples, made by libsndfile itself; empty
// where this build cannot write it.
std::string made_by_libsndfile(int format, const std::vector<float>& samples, int32_t channels,
                               int32_t rate) {
  const TempDir dir;
  SF_INFO info{};
  info.format = format;
  info.channels = channels;
  info.samplerate = rate;
  if (sf_format_check(&info) == 0) return "";
  SNDFILE* file = sf_open(dir.path("f").c_str(), SFM_WRITE, &info);
  if (file == nullptr) return "";
  sf_write_float(file, samples.data(), static_cast<sf_count_t>(samples.size()));
  sf_close(file);
  return read_file(dir.path("f"));
}

std::vector<float> read_all(std::shared_ptr<const io::ByteSource> source) {
  AudioReader reader(std::move(source));
  std::vector<float> out;
  for (auto block = reader.read(); !block.empty(); block = reader.read()) {
    out.insert(out.end(), block.begin(), block.end());
  }
  EXPECT_EQ(out.size(), reader.frames_read() * static_cast<size_t>(reader.info().channels));
  return out;
}
std::vector<float> read_all(std::string_view bytes) {
  return read_all(memory_source("f.wav", bytes));
}

std::string error_for(std::string_view bytes) {
  return error_of([&] { read_all(bytes); });
}

// Without the last 1000 samples, where lossy codecs know nothing of what would follow.
double worst_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = 0;
  for (size_t i = 0; i + 1000 < std::min(a.size(), b.size()); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return worst;
}

// A WAV file by hand, so that each of its sizes can lie.
struct WavParts {
  std::string data = {};
  uint64_t riff_size = UINT64_MAX;  // UINT64_MAX: the true one
  uint64_t data_size = UINT64_MAX;
  std::string before_data = {};
  std::string after_data = {};
  uint16_t tag = 1, channels = 1, bits = 16;
  uint32_t rate = 16000;
};

std::string wav(const WavParts& parts) {
  const uint16_t frame = static_cast<uint16_t>(parts.channels * parts.bits / 8);
  std::string body = "WAVEfmt " + little(16, 4) + little(parts.tag, 2) + little(parts.channels, 2) +
                     little(parts.rate, 4) + little(parts.rate * frame, 4) + little(frame, 2) +
                     little(parts.bits, 2) + parts.before_data + "data";
  body += little(parts.data_size != UINT64_MAX ? parts.data_size : parts.data.size(), 4);
  body += parts.data + parts.after_data;
  return "RIFF" + little(parts.riff_size != UINT64_MAX ? parts.riff_size : body.size(), 4) + body;
}

// 2 s of 16-bit samples at 16 kHz.
const std::string kSamples = [] {
  std::string out;
  for (int i = 0; i < 32000; ++i) out += little(static_cast<uint64_t>(i * 37), 2);
  return out;
}();

TEST(AudioReader, ReadsEveryKindItSaysItReads) {
  const std::vector<float> in = tone(48000, 0.5);
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
      const std::vector<float> out = read_all(bytes);
      // ADPCM fills its last block.
      EXPECT_GE(out.size(), samples.size()) << std::hex << item.format;
      EXPECT_LT(out.size(), samples.size() + 4096) << std::hex << item.format;
      EXPECT_LE(worst_difference(out, samples), item.tolerance) << std::hex << item.format;
      // A source that is read and not mapped gives the same.
      EXPECT_EQ(read_all(memory_source("r", bytes, false)), out);
    }
  }
}

TEST(AudioReader, ReadsMp3UnderAnyName) {
  const std::vector<float> samples = tone(44100, 1);
  const std::string bytes =
      made_by_libsndfile(SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, samples, 1, 44100);
  if (bytes.empty()) GTEST_SKIP() << "this build of libsndfile writes no MP3";
  EXPECT_EQ(AudioReader(memory_source("voice.wav", bytes)).info().kind, "MP3");
  const std::vector<float> out = read_all(bytes);
  // The encoder pads with up to two frames of 1152.
  EXPECT_NEAR(static_cast<double>(out.size()), 44100, 2 * 1152);
}

TEST(AudioReader, Mp3TagsJunkAndWrongCountsDoNotMatterAndNothingIsPrinted) {
  const std::string bytes =
      made_by_libsndfile(SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, tone(44100, 1), 1, 44100);
  if (bytes.empty()) GTEST_SKIP() << "this build of libsndfile writes no MP3";
  testing::internal::CaptureStderr();
  const std::vector<float> good = read_all(bytes);
  const std::string id3 = "ID3" + std::string("\x04\0\0\0\0\x02\x10", 7) + std::string(272, '\xff');
  EXPECT_EQ(read_all(id3 + bytes), good);
  EXPECT_EQ(read_all(bytes + "TAG" + std::string(125, ' ')), good);
  EXPECT_EQ(read_all(bytes + std::string(5000, '\xff')), good);
  // Cut, which makes the encoder's counts wrong.
  const std::vector<float> half = read_all(std::string_view(bytes).substr(0, bytes.size() / 2));
  EXPECT_GT(half.size(), 44100u / 3);
  EXPECT_LT(half.size(), good.size());
  // Junk in the middle costs a few frames.
  const std::string junk =
      bytes.substr(0, bytes.size() / 2) + std::string(999, '\x55') + bytes.substr(bytes.size() / 2);
  EXPECT_GT(read_all(junk).size(), good.size() - 8 * 1152);
  for (size_t length = 4; length < 2000; length += 7) {
    error_of([&] { read_all(std::string_view(bytes).substr(0, length)); });
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(AudioReader, FloatFilesKeepTheirBits) {
  const std::vector<float> odd{0.1f, -0.0f, 1e-42f, 3.5f, -1e30f};
  const std::vector<float> out =
      read_all(made_by_libsndfile(SF_FORMAT_WAV | SF_FORMAT_FLOAT, odd, 1, 44100));
  ASSERT_EQ(out.size(), odd.size());
  EXPECT_EQ(std::memcmp(out.data(), odd.data(), odd.size() * sizeof(float)), 0);
}

TEST(AudioReader, SamplesThatAreNoNumbersComeAsZeroAndAreCounted) {
  WavParts parts;
  parts.tag = 3;
  parts.bits = 32;
  for (const float x : {0.5f, NAN, INFINITY, -INFINITY, 0.25f}) {
    parts.data += little(std::bit_cast<uint32_t>(x), 4);
  }
  AudioReader reader(memory_source("f", wav(parts)));
  const auto block = reader.read();
  EXPECT_THAT(std::vector<float>(block.begin(), block.end()),
              testing::ElementsAre(0.5f, 0.0f, 0.0f, 0.0f, 0.25f));
  EXPECT_EQ(reader.bad_samples(), 3u);
}

TEST(AudioReader, WavFilesOfWrongSizesGiveTheSamplesThatAreThere) {
  const std::vector<float> good = read_all(wav({kSamples}));
  ASSERT_EQ(good.size(), 32000u);
  for (const uint64_t data_size : {uint64_t{0}, uint64_t{0xFFFFFFFF}, uint64_t{640000},
                                   uint64_t{0x7FFFFFFF}, uint64_t{0xFFFFFFFE}}) {
    for (const uint64_t riff_size : {UINT64_MAX, uint64_t{0}, uint64_t{0xFFFFFFFF}, uint64_t{8},
                                     uint64_t{36}, uint64_t{640000}}) {
      const std::string bytes = wav({kSamples, riff_size, data_size});
      EXPECT_EQ(read_all(bytes), good) << data_size << " in " << riff_size;
      EXPECT_EQ(AudioReader(memory_source("f", bytes)).info().frames, 32000u);
    }
  }
}

TEST(AudioReader, ChunksAroundTheSamplesDoNotSoundAndDoNotMatter) {
  const std::vector<float> good = read_all(wav({kSamples}));
  const std::string list = "LIST" + little(10, 4) + std::string(10, '\0');
  const std::string odd = "note" + little(3, 4) + "abc" + std::string(1, '\0');
  for (const std::string& before : {list, odd, std::string(64, '\0'), std::string(1000, '\0')}) {
    EXPECT_EQ(read_all(wav({kSamples, UINT64_MAX, UINT64_MAX, before})), good) << before.size();
  }
  EXPECT_EQ(read_all(wav({kSamples, UINT64_MAX, UINT64_MAX, "", list + odd})), good);
  // A claim that ends inside the file is kept: what follows is no sound.
  EXPECT_EQ(read_all(wav({kSamples, UINT64_MAX, 200})).size(), 100u);
  // No samples at all, and another chunk behind them.
  EXPECT_TRUE(read_all(wav({"", UINT64_MAX, 0, "", list})).empty());
  EXPECT_TRUE(read_all(wav({""})).empty());
}

TEST(AudioReader, AFileCutInTheMiddleOfASampleGivesTheWholeOnes) {
  const std::vector<float> good = read_all(wav({kSamples}));
  const std::string bytes = wav({kSamples});
  for (const size_t length : {bytes.size() - 1, size_t{1001}, size_t{46}, size_t{45}}) {
    const std::vector<float> out = read_all(std::string_view(bytes).substr(0, length));
    EXPECT_EQ(out.size(), (length - 44) / 2);
    EXPECT_TRUE(std::equal(out.begin(), out.end(), good.begin()));
  }
}

TEST(AudioReader, EveryCutOfEveryKindIsSamplesOrAnError) {
  for (const int format : {SF_FORMAT_WAV | SF_FORMAT_PCM_16, SF_FORMAT_WAV | SF_FORMAT_MS_ADPCM,
                           SF_FORMAT_AIFF | SF_FORMAT_PCM_16, SF_FORMAT_FLAC | SF_FORMAT_PCM_16,
                           SF_FORMAT_OGG | SF_FORMAT_VORBIS, SF_FORMAT_OGG | SF_FORMAT_OPUS,
                           SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III}) {
    const std::string whole = made_by_libsndfile(format, tone(48000, 0.5), 1, 48000);
    const size_t full = whole.empty() ? 0 : read_all(whole).size();
    for (size_t length = 0; length < whole.size(); length += 1 + whole.size() / 60) {
      std::vector<float> out;
      const std::string error =
          error_of([&] { out = read_all(std::string_view(whole).substr(0, length)); });
      EXPECT_LE(out.size(), full) << std::hex << format << " cut at " << length;
      EXPECT_THAT(error, testing::AnyOf("", StartsWith("REMORA_E_FORMAT: f.wav: not readable")));
    }
  }
}

TEST(AudioReader, OurOwnStreamedWavReadsBack) {
  const std::vector<float> in = tone(44100, 0.25);
  std::string stream = io::wav_header(io::AudioFormat::kWavFloat, 1, 44100, std::nullopt);
  io::append_wav_samples(io::AudioFormat::kWavFloat, in, stream);
  EXPECT_EQ(read_all(stream), in);
}

TEST(AudioReader, OtherFilesAreRefusedByWhatTheyAre) {
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
      {wav({kSamples, UINT64_MAX, UINT64_MAX, "", "", 1, 0}), "WAV, "},
      {wav({kSamples, UINT64_MAX, UINT64_MAX, "", "", 0x1234}), "WAV, "}};
  for (const auto& [bytes, reason] : cases) {
    EXPECT_THAT(error_for(bytes),
                AllOf(StartsWith("REMORA_E_FORMAT: f.wav: not readable as sound: "),
                      HasSubstr(reason), HasSubstr("this build reads WAV, ")))
        << testing::PrintToString(bytes.substr(0, 20));
  }
}

TEST(AudioReader, MissingFilesAndFoldersAreNamed) {
  const TempDir dir("говор é #1");
  EXPECT_THAT(error_of([&] { io::describe_audio(dir.path("none.wav")); }),
              AllOf(HasSubstr("REMORA_E_IO"), HasSubstr("говор é #1/none.wav")));
  EXPECT_THAT(error_of([&] { io::describe_audio(dir.path()); }), HasSubstr("REMORA_E_IO"));
  const io::AudioInfo info = io::describe_audio(dir.write("голос.wav", wav({kSamples})));
  EXPECT_EQ(info.sample_rate, 16000);
  EXPECT_EQ(info.frames, 32000u);
  EXPECT_EQ(info.kind, "WAV");
}

TEST(AudioReader, StopsAtTheLongestThatIsTaken) {
  const std::string bytes = wav({kSamples});  // 2 s
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
    EXPECT_EQ(error_of([&] { read_all(std::make_shared<Failing>(bytes)); }),
              "REMORA_E_CALLBACK: net: the line is dead");
  }
}

}  // namespace
}  // namespace remora::test
