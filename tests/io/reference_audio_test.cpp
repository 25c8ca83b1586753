#include "io/reference_audio.h"

#include <gmock/gmock.h>
#include <sndfile.h>
#include <sys/resource.h>

#include <cmath>
#include <filesystem>
#include <numbers>

#include "io/archive_builder.h"
#include "io/audio_file.h"
#include "io/memory_source.h"
#include "io/resample.h"
#include "io/sound_builder.h"
#include "io/temp_dir.h"
#include "support/sanitized.h"

namespace remora::test {
namespace {

using io::ReferenceAudio;
using io::ReferenceLimits;
using testing::AllOf;
using testing::HasSubstr;

constexpr int32_t kRate = 44100;

std::vector<float> chord(int32_t rate, double seconds, int32_t channels, float level = 0.5f) {
  std::vector<float> out;
  for (int i = 0; i < static_cast<int>(std::lround(rate * seconds)); ++i) {
    const double x = std::sin(2 * std::numbers::pi * 440 * i / rate);
    // The second channel is twice as loud as the first, so that a mean shows.
    for (int c = 0; c < channels; ++c) out.push_back(static_cast<float>(level * x * (c + 1)));
  }
  return out;
}

std::string float_wav(const std::vector<float>& samples, int32_t channels, int32_t rate) {
  std::string bytes =
      io::wav_header(io::AudioFormat::kWavFloat, channels, rate, samples.size() * sizeof(float));
  io::append_wav_samples(io::AudioFormat::kWavFloat, samples, bytes);
  return bytes;
}

ReferenceAudio read(std::string_view bytes, const ReferenceLimits& limits = {}) {
  return io::read_reference_audio(memory_source("ref.wav", bytes), kRate, limits);
}

TEST(ReferenceAudio, RB_27_AFileAtTheRateComesBitForBit) {
  const std::vector<float> in = chord(kRate, 1, 1);
  const ReferenceAudio out = read(float_wav(in, 1, kRate));
  EXPECT_EQ(out.samples, in);
  EXPECT_DOUBLE_EQ(out.seconds, 1);
  EXPECT_EQ(out.source_rate, kRate);
  EXPECT_EQ(out.source_channels, 1);
  EXPECT_NEAR(out.peak, 0.5, 1e-3);
  EXPECT_EQ(out.bad_samples, 0u);
  EXPECT_EQ(out.damage, "");
}

TEST(ReferenceAudio, ChannelsAreAveragedAndTheRateConvertedFromFileAndMemoryAlike) {
  for (const int32_t rate : {8000, 16000, 48000, 192000}) {
    const std::vector<float> in = chord(rate, 1.3, 2, 0.2f);
    const ReferenceAudio file = read(float_wav(in, 2, rate));
    EXPECT_EQ(io::reference_from_pcm(in, 2, rate, kRate).samples, file.samples);
    EXPECT_EQ(file.samples.size(), 57330u);
    std::vector<float> mono, expected;
    io::mix_to_mono(in, 2, mono);
    io::Resampler resampler(rate, kRate);
    resampler.push(mono, expected);
    resampler.finish(expected);
    EXPECT_EQ(file.samples, expected);
    EXPECT_NEAR(file.peak, 0.3, 3e-3) << "the mean of 0.2 and 0.4";
  }
}

TEST(ReferenceAudio, RB_26_PathAndMemoryGiveTheSameSoundForEveryKindUnderAnyName) {
  const TempDir dir;
  const std::vector<float> in = chord(48000, 5, 1);
  int kinds = 0;
  for (const int format : {SF_FORMAT_WAV | SF_FORMAT_PCM_16, SF_FORMAT_FLAC | SF_FORMAT_PCM_16,
                           SF_FORMAT_OGG | SF_FORMAT_VORBIS, SF_FORMAT_OGG | SF_FORMAT_OPUS,
                           SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III}) {
    const std::string bytes = made_by_libsndfile(format, in, 1, 48000);
    if (bytes.empty()) continue;  // MP3, where this build of libsndfile writes none
    const ReferenceAudio memory = read(bytes);
    EXPECT_NEAR(memory.seconds, 5, 0.1);  // MP3 pads by up to two frames
    EXPECT_NEAR(memory.peak, 0.5, 0.15);  // lossy kinds ring where the tone sets in
    EXPECT_EQ(memory.damage, "");
    for (const std::string name : {"clip.wav", "clip.txt", "clip"}) {
      const auto file = io::read_reference_audio(io::open_file(dir.write(name, bytes)), kRate);
      EXPECT_EQ(file.samples, memory.samples) << std::hex << format << " as " << name;
    }
    ++kinds;
  }
  EXPECT_GE(kinds, 4);
}

TEST(ReferenceAudio, EachUnfitSoundHasItsOwnMessage) {
  const auto error_for = [](const std::string& bytes, const ReferenceLimits& limits = {}) {
    return error_of([&] { read(bytes, limits); });
  };
  EXPECT_THAT(error_for("Not a sound."), HasSubstr("REMORA_E_FORMAT: ref.wav: not readable"));
  EXPECT_THAT(error_for(""), HasSubstr("an empty file"));
  EXPECT_EQ(error_for(float_wav({}, 1, kRate)),
            "REMORA_E_INVALID_ARGUMENT: ref.wav: holds no sound");
  EXPECT_EQ(error_for(float_wav(chord(kRate, 0.1, 1), 1, kRate)),
            "REMORA_E_INVALID_ARGUMENT: ref.wav: 0.1 seconds of sound; at least 0.2 are needed");
  EXPECT_THAT(error_for(float_wav(chord(kRate, 1, 1, 1e-5f), 1, kRate)), HasSubstr("silence"));
  EXPECT_THAT(error_for(float_wav(chord(kRate, 2, 1), 1, kRate), {0.2, 1.5, 0}),
              HasSubstr("ref.wav: longer than 1.5 seconds"));
  EXPECT_THAT(error_for(float_wav(chord(2000, 1, 1), 1, 2000)),
              AllOf(HasSubstr("ref.wav: a sample rate of 2000"), HasSubstr("192000")));
}

TEST(ReferenceAudio, LimitsCanLetEverythingThrough) {
  const ReferenceLimits none{0, 1e9, 0};
  EXPECT_EQ(read(float_wav({0.0f}, 1, kRate), none).samples.size(), 1u);
}

TEST(ReferenceAudio, SamplesInMemoryAreCheckedAlike) {
  const auto error_for = [](const std::vector<float>& in, int32_t channels, int32_t rate,
                            const ReferenceLimits& limits = {}) {
    return error_of([&] { io::reference_from_pcm(in, channels, rate, kRate, limits); });
  };
  const std::vector<float> second = chord(kRate, 1, 1);
  EXPECT_THAT(error_for(second, 0, kRate), HasSubstr("no whole frames of 0"));
  EXPECT_THAT(error_for(second, 7 * 13, kRate), HasSubstr("no whole frames"));
  EXPECT_THAT(error_for(second, 1, 0), HasSubstr("reference samples: a sample rate of 0"));
  EXPECT_THAT(error_for(second, 1, kRate, {0, 0.5, 0}), HasSubstr("longer than 0.5"));
  EXPECT_THAT(error_for({}, 1, kRate), HasSubstr("no sound"));
  std::vector<float> odd = second;
  odd[7] = NAN;
  odd[8] = INFINITY;
  const ReferenceAudio out = io::reference_from_pcm(odd, 1, kRate, kRate);
  EXPECT_EQ(out.bad_samples, 2u);
  EXPECT_EQ(out.samples[7], 0);
  EXPECT_LT(out.peak, 0.51f);
}

TEST(ReferenceAudio, ACancelStopsBothWaysIn) {
  CancelFlag cancel;
  cancel.raise();
  const std::vector<float> in = chord(kRate, 1, 1);
  const auto source = memory_source("ref.wav", float_wav(in, 1, kRate));
  EXPECT_THAT(error_of([&] { io::read_reference_audio(source, kRate, {}, &cancel); }),
              HasSubstr("REMORA_E_CANCELLED"));
  EXPECT_THAT(error_of([&] { io::reference_from_pcm(in, 1, kRate, kRate, {}, &cancel); }),
              HasSubstr("REMORA_E_CANCELLED"));
  cancel.clear();
  EXPECT_EQ(io::read_reference_audio(source, kRate, {}, &cancel).samples, in);
}

TEST(ReferenceAudio, RB_52_NamesOutsideAsciiWork) {
  const TempDir dir("голос 声 é #1");
  const std::string path = dir.write("эталон.wav", float_wav(chord(kRate, 0.5, 1), 1, kRate));
  EXPECT_EQ(io::read_reference_audio(io::open_file(path), kRate).samples.size(), 22050u);
}

TEST(ReferenceAudio, RB_31_MemoryFollowsTheSoundAndNotTheHeader) {
  // A header of 0xFFFFFFFF bytes, 192 kHz and 64 channels before one second of sound.
  std::string bytes = io::wav_header(io::AudioFormat::kWavPcm16, 64, 192000, std::nullopt);
  bytes.append(192000 * 64 * 2, '\x11');
  const auto peak_kb = [] {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const TempDir dir;
  const std::string path = dir.write("f", bytes);
  bytes = {};
  const auto before = peak_kb();
  const ReferenceAudio out = io::read_reference_audio(io::open_file(path), kRate);
  EXPECT_EQ(out.samples.size(), 44100u);
  // The mapped file's 24 MB count as well; a tenth of the header's claim would show.
  EXPECT_LT(peak_kb() - before, (test::kSanitized ? 4 : 1) * (64 << 10));
}

}  // namespace
}  // namespace remora::test
