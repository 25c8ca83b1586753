#include <gmock/gmock.h>

#include <bit>
#include <cmath>

#include "io/archive_builder.h"
#include "io/audio_file.h"
#include "io/memory_source.h"
#include "io/sound_builder.h"

namespace remora::test {
namespace {

using io::AudioReader;

const std::string kSamples = two_seconds();

TEST(WavReading, SamplesThatAreNoNumbersComeAsZeroAndAreCounted) {
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

TEST(WavReading, RB_31_FilesOfWrongSizesGiveTheSamplesThatAreThere) {
  const std::vector<float> good = read_sound(wav({kSamples}));
  ASSERT_EQ(good.size(), 32000u);
  for (const uint64_t data_size : {uint64_t{0}, uint64_t{0xFFFFFFFF}, uint64_t{640000},
                                   uint64_t{0x7FFFFFFF}, uint64_t{0xFFFFFFFE}}) {
    for (const uint64_t riff_size : {UINT64_MAX, uint64_t{0}, uint64_t{0xFFFFFFFF}, uint64_t{8},
                                     uint64_t{36}, uint64_t{640000}}) {
      const std::string bytes = wav({kSamples, riff_size, data_size});
      EXPECT_EQ(read_sound(bytes), good) << data_size << " in " << riff_size;
      EXPECT_EQ(AudioReader(memory_source("f", bytes)).info().frames, 32000u);
    }
  }
}

TEST(WavReading, RB_31_ChunksAroundTheSamplesDoNotSoundAndDoNotMatter) {
  const std::vector<float> good = read_sound(wav({kSamples}));
  const std::string list = "LIST" + little(10, 4) + std::string(10, '\0');
  const std::string odd = "note" + little(3, 4) + "abc" + std::string(1, '\0');
  for (const std::string& before : {list, odd, std::string(64, '\0'), std::string(1000, '\0')}) {
    EXPECT_EQ(read_sound(wav({kSamples, UINT64_MAX, UINT64_MAX, before})), good) << before.size();
  }
  EXPECT_EQ(read_sound(wav({kSamples, UINT64_MAX, UINT64_MAX, "", list + odd})), good);
  // A claim that ends inside the file is kept: what follows is no sound.
  EXPECT_EQ(read_sound(wav({kSamples, UINT64_MAX, 200})).size(), 100u);
  // No samples at all, and another chunk behind them.
  EXPECT_TRUE(read_sound(wav({"", UINT64_MAX, 0, "", list})).empty());
  EXPECT_TRUE(read_sound(wav({""})).empty());
}

TEST(WavReading, RB_31_AFileCutInTheMiddleOfASampleGivesTheWholeOnes) {
  const std::vector<float> good = read_sound(wav({kSamples}));
  const std::string bytes = wav({kSamples});
  for (const size_t length : {bytes.size() - 1, size_t{1001}, size_t{46}, size_t{45}}) {
    const std::vector<float> out = read_sound(std::string_view(bytes).substr(0, length));
    EXPECT_EQ(out.size(), (length - 44) / 2);
    EXPECT_TRUE(std::equal(out.begin(), out.end(), good.begin()));
  }
}

TEST(WavReading, RB_31_OurOwnStreamedWavReadsBack) {
  const std::vector<float> in = tone(44100, 0.25);
  std::string stream = io::wav_header(io::AudioFormat::kWavFloat, 1, 44100, std::nullopt);
  io::append_wav_samples(io::AudioFormat::kWavFloat, in, stream);
  EXPECT_EQ(read_sound(stream), in);
}

}  // namespace
}  // namespace remora::test
