#include <gmock/gmock.h>
#include <sys/stat.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "io/archive_builder.h"
#include "io/audio_file.h"
#include "io/memory_source.h"
#include "io/temp_dir.h"

namespace remora::test {
namespace {

using io::AudioFormat;
using io::AudioWriter;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<float> read_all(const std::string& path) {
  io::AudioReader reader(io::open_file(path));
  std::vector<float> out;
  for (auto block = reader.read(); !block.empty(); block = reader.read()) {
    out.insert(out.end(), block.begin(), block.end());
  }
  return out;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

constexpr AudioFormat kAllFormats[] = {AudioFormat::kWavPcm16, AudioFormat::kWavPcm24,
                                       AudioFormat::kWavFloat, AudioFormat::kFlac16,
                                       AudioFormat::kFlac24,   AudioFormat::kOggOpus};

TEST(Quantize, RoundsDownSaturatesAndTakesNanForSilence) {
  EXPECT_EQ(io::quantize(0.0f, 16), 0);
  EXPECT_EQ(io::quantize(0.5f, 16), 16384);
  EXPECT_EQ(io::quantize(0.9f / 32768, 16), 0);
  EXPECT_EQ(io::quantize(-0.1f / 32768, 16), -1);
  EXPECT_EQ(io::quantize(1.0f, 16), 32767);
  EXPECT_EQ(io::quantize(-1.0f, 16), -32768);
  EXPECT_EQ(io::quantize(7.0f, 16), 32767);
  EXPECT_EQ(io::quantize(-7.0f, 16), -32768);
  EXPECT_EQ(io::quantize(INFINITY, 16), 32767);
  EXPECT_EQ(io::quantize(-INFINITY, 24), -8388608);
  EXPECT_EQ(io::quantize(3e38f, 24), 8388607);
  EXPECT_EQ(io::quantize(NAN, 16), 0);
}

TEST(WavHeader, RB_35_OfAFileStatesItsSizes) {
  // The 44 bytes that every reader knows.
  EXPECT_EQ(io::wav_header(AudioFormat::kWavPcm16, 2, 44100, 8),
            "RIFF" + little(44, 4) + "WAVEfmt " + little(16, 4) + little(1, 2) + little(2, 2) +
                little(44100, 4) + little(176400, 4) + little(4, 2) + little(16, 2) + "data" +
                little(8, 4));
  EXPECT_EQ(io::wav_header(AudioFormat::kWavPcm24, 1, 8000, 3).substr(4, 4), little(40, 4))
      << "the padding byte counts";
}

TEST(WavHeader, RB_35_OfAStreamSaysThatItsSizesAreNotKnown) {
  const std::string unknown(4, '\xff');
  const std::string header = io::wav_header(AudioFormat::kWavFloat, 1, 44100, std::nullopt);
  EXPECT_EQ(header, "RIFF" + unknown + "WAVEfmt " + little(18, 4) + little(3, 2) + little(1, 2) +
                        little(44100, 4) + little(176400, 4) + little(4, 2) + little(32, 2) +
                        little(0, 2) + "fact" + little(4, 4) + unknown + "data" + unknown);
}

TEST(WavHeader, RefusesWhatItsSizesCannotSay) {
  EXPECT_NO_THROW(io::wav_header(AudioFormat::kWavPcm16, 1, 8000, 0xFFFFFFFF - 40));
  EXPECT_THAT(
      error_of([] { io::wav_header(AudioFormat::kWavPcm16, 1, 8000, uint64_t{0xFFFFFFFF}); }),
      AllOf(HasSubstr("REMORA_E_UNSUPPORTED"), HasSubstr("4 GiB")));
}

TEST(AudioWriter, IntegerFilesHoldTheFloorAndFloatFilesTheBits) {
  const TempDir dir;
  const std::vector<float> in{0.5f, 0.9f / 32768, -0.1f / 32768, 1.5f, -1.5f, 0.1f};
  for (const auto& [format, bits] : {std::pair{AudioFormat::kWavPcm16, 16},
                                     {AudioFormat::kFlac16, 16},
                                     {AudioFormat::kWavPcm24, 24},
                                     {AudioFormat::kFlac24, 24}}) {
    io::write_audio(dir.path("f"), in, 2, 44100, format);
    const std::vector<float> out = read_all(dir.path("f"));
    ASSERT_EQ(out.size(), in.size());
    for (size_t i = 0; i < in.size(); ++i) {
      EXPECT_EQ(out[i], std::ldexp(static_cast<float>(io::quantize(in[i], bits)), 1 - bits));
    }
  }
  io::write_audio(dir.path("f"), in, 1, 44100, AudioFormat::kWavFloat);
  const std::vector<float> out = read_all(dir.path("f"));
  ASSERT_EQ(out.size(), in.size());
  EXPECT_EQ(std::memcmp(out.data(), in.data(), in.size() * sizeof(float)), 0);
}

TEST(AudioWriter, SamplesThatAreNoNumbersAreWrittenAsSoundAndCounted) {
  const TempDir dir;
  for (const AudioFormat format : kAllFormats) {
    AudioWriter writer(dir.path("f"), format, 1, 48000);
    writer.write(std::vector<float>{NAN, INFINITY, -INFINITY, 0.25f});
    writer.finish();
    EXPECT_EQ(writer.bad_samples(), 3u);
    io::AudioReader reader(io::open_file(dir.path("f")));
    const auto out = reader.read();
    EXPECT_EQ(reader.bad_samples(), 0u);
    if (format == AudioFormat::kWavFloat) {
      EXPECT_THAT(std::vector<float>(out.begin(), out.end()), ElementsAre(0, 1, -1, 0.25f));
    }
  }
}

TEST(AudioWriter, OpusKeepsLengthAndLevel) {
  const TempDir dir;
  std::vector<float> in;
  for (int i = 0; i < 24000; ++i) in.push_back(0.5f * std::sin(0.1f * static_cast<float>(i)));
  io::write_audio(dir.path("f"), in, 1, 24000, AudioFormat::kOggOpus);
  const std::vector<float> out = read_all(dir.path("f"));
  ASSERT_EQ(out.size(), in.size());
  double difference = 0, power = 0;
  for (size_t i = 2000; i < in.size(); ++i) {
    difference += (out[i] - in[i]) * (out[i] - in[i]);
    power += in[i] * in[i];
  }
  EXPECT_LT(difference, power / 100) << "a tone survives at 20 dB at least";
}

TEST(AudioWriter, RB_35_PiecesGiveTheSameFileAndItsSizesAreTrue) {
  const TempDir dir;
  std::vector<float> in;
  for (int i = 0; i < 30001; ++i) in.push_back(static_cast<float>(i % 100) / 128 - 0.4f);
  for (const AudioFormat format : kAllFormats) {
    if (format == AudioFormat::kOggOpus) continue;  // its streams carry a random number
    io::write_audio(dir.path("whole"), in, 1, 44100, format);
    AudioWriter writer(dir.path("pieces"), format, 1, 44100);
    for (size_t at = 0; at < in.size(); at += 777) {
      writer.write(std::span(in).subspan(at, std::min<size_t>(777, in.size() - at)));
    }
    writer.finish();
    const std::string bytes = read_file(dir.path("whole"));
    EXPECT_EQ(read_file(dir.path("pieces")), bytes);
    if (bytes.starts_with("RIFF")) {
      EXPECT_EQ(bytes.substr(4, 4), little(bytes.size() - 8, 4));
    }
    EXPECT_EQ(io::describe_audio(dir.path("whole")).frames, in.size());
  }
}

TEST(AudioWriter, NoSamplesAreAWholeWavFileAndAnErrorInOtherFormats) {
  const TempDir dir;
  for (const AudioFormat format : kAllFormats) {
    const std::string error =
        error_of([&] { io::write_audio(dir.path("f"), {}, 1, 48000, format); });
    if (format <= AudioFormat::kWavFloat) {
      EXPECT_EQ(error, "");
      EXPECT_TRUE(read_all(dir.path("f")).empty());
    } else {
      EXPECT_THAT(error, HasSubstr("no samples"));
    }
  }
  EXPECT_THAT(names_in(dir.path()), ElementsAre("f"));
}

TEST(AudioWriter, NothingIsLeftOfARunThatDoesNotFinish) {
  const TempDir dir;
  dir.write("f", "old");
  for (const AudioFormat format : kAllFormats) {
    AudioWriter writer(dir.path("f"), format, 1, 48000);
    writer.write(std::vector<float>(1000, 0.1f));
    EXPECT_EQ(read_file(dir.path("f")), "old");
  }
  EXPECT_THAT(names_in(dir.path()), ElementsAre("f"));
}

TEST(AudioWriter, ReplacesTheFileALinkLeadsToAndKeepsItsPermissions) {
  const TempDir dir;
  dir.write("target", "old");
  ASSERT_EQ(::chmod(dir.path("target").c_str(), 0640), 0);
  std::filesystem::create_symlink("target", dir.path("link"));
  io::write_audio(dir.path("link"), std::vector<float>{0.5f}, 1, 44100, AudioFormat::kWavPcm16);
  EXPECT_TRUE(std::filesystem::is_symlink(dir.path("link")));
  EXPECT_THAT(read_all(dir.path("target")), ElementsAre(0.5f));
  struct stat info {};
  ASSERT_EQ(::stat(dir.path("target").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0640u);
}

TEST(AudioWriter, TargetsThatAreNoFilesAreRefusedAndStay) {
  const TempDir dir("мой é #1");
  const auto error_for = [](const std::string& path) {
    return error_of([&] { AudioWriter(path, AudioFormat::kWavPcm16, 1, 44100); });
  };
  EXPECT_THAT(error_for(dir.path()), AllOf(HasSubstr("REMORA_E_IO"), HasSubstr("a folder")));
  EXPECT_THAT(error_for(dir.path("none/f.wav")),
              AllOf(HasSubstr("REMORA_E_IO"), HasSubstr("мой é #1/none/f.wav")));
  ASSERT_EQ(::mkfifo(dir.path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(error_for(dir.path("pipe")), HasSubstr("no regular file"));
  EXPECT_TRUE(std::filesystem::is_fifo(dir.path("pipe")));
  io::write_audio(dir.path("f.wav"), std::vector<float>{0.5f}, 1, 44100, AudioFormat::kWavPcm16);
  EXPECT_EQ(read_all(dir.path("f.wav")).size(), 1u);
}

TEST(AudioWriter, RatesAndChannelsTheFormatLacksAreRefusedBeforeAFileIsMade) {
  const TempDir dir;
  const struct {
    AudioFormat format;
    int32_t channels, rate;
  } cases[] = {{AudioFormat::kOggOpus, 1, 44100},   {AudioFormat::kFlac16, 9, 44100},
               {AudioFormat::kFlac16, 1, 0},        {AudioFormat::kWavPcm16, 0, 44100},
               {AudioFormat::kWavPcm16, 65, 44100}, {AudioFormat::kWavFloat, 1, -1}};
  for (const auto& item : cases) {
    EXPECT_THAT(
        error_of([&] { AudioWriter(dir.path("f"), item.format, item.channels, item.rate); }),
        AllOf(HasSubstr("REMORA_E_UNSUPPORTED"), HasSubstr(concat(item.channels, " channels"))));
  }
  EXPECT_TRUE(names_in(dir.path()).empty());
  AudioWriter writer(dir.path("f"), AudioFormat::kWavPcm16, 2, 44100);
  EXPECT_THAT(error_of([&] { writer.write(std::vector<float>{0.5f}); }),
              HasSubstr("no whole frames"));
  writer.finish();
  EXPECT_THAT(error_of([&] { writer.write(std::vector<float>{0, 0}); }), HasSubstr("finished"));
}

}  // namespace
}  // namespace remora::test
