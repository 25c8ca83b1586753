#include "io/resample.h"

#include <ATen/ops/from_blob.h>
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <numbers>

#include "io/memory_source.h"
#include "support/golden.h"

namespace remora::test {
namespace {

using io::Resampler;
using testing::HasSubstr;

constexpr double kTau = 2 * std::numbers::pi;

// Pushed in pieces of `piece` samples; 0: all at once.
std::vector<float> resample(int32_t from, int32_t to, std::span<const float> in, size_t piece = 0) {
  Resampler resampler(from, to);
  std::vector<float> out;
  if (piece == 0) piece = std::max<size_t>(in.size(), 1);
  for (size_t at = 0; at < in.size(); at += piece) {
    resampler.push(in.subspan(at, std::min(piece, in.size() - at)), out);
  }
  resampler.finish(out);
  return out;
}

std::vector<float> tone(double frequency, int32_t rate, double seconds) {
  std::vector<float> out(static_cast<size_t>(std::llround(rate * seconds)));
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = static_cast<float>(0.5 * std::sin(kTau * frequency * static_cast<double>(i) / rate));
  }
  return out;
}

// Amplitude of `frequency` in the middle of `signal`, whose ends are where the filter sets in.
// A Hann window, so that other tones do not leak in.
double amplitude(std::span<const float> signal, double frequency, int32_t rate) {
  const std::span<const float> middle = signal.subspan(signal.size() / 8, signal.size() * 3 / 4);
  double re = 0, im = 0;
  for (size_t i = 0; i < middle.size(); ++i) {
    const double hann =
        1 - std::cos(kTau * static_cast<double>(i) / static_cast<double>(middle.size()));
    const double angle = kTau * frequency * static_cast<double>(i) / rate;
    re += hann * middle[i] * std::cos(angle);
    im += hann * middle[i] * std::sin(angle);
  }
  return 2 * std::hypot(re, im) / static_cast<double>(middle.size());
}

double decibel(double ratio) { return 20 * std::log10(ratio); }

// Power of everything but the tone at `frequency`, against that of the tone.
double rest_over_tone_db(std::span<const float> signal, double frequency, int32_t rate) {
  const std::span<const float> middle = signal.subspan(signal.size() / 8, signal.size() * 3 / 4);
  // The least-squares fit of a sine and a cosine is what is taken away.
  double ss = 0, cc = 0, sc = 0, xs = 0, xc = 0;
  for (size_t i = 0; i < middle.size(); ++i) {
    const double s = std::sin(kTau * frequency * static_cast<double>(i) / rate);
    const double c = std::cos(kTau * frequency * static_cast<double>(i) / rate);
    ss += s * s, cc += c * c, sc += s * c, xs += middle[i] * s, xc += middle[i] * c;
  }
  const double det = ss * cc - sc * sc;
  const double a = (xs * cc - xc * sc) / det;
  const double b = (xc * ss - xs * sc) / det;
  double rest = 0, tone = 0;
  for (size_t i = 0; i < middle.size(); ++i) {
    const double fit = a * std::sin(kTau * frequency * static_cast<double>(i) / rate) +
                       b * std::cos(kTau * frequency * static_cast<double>(i) / rate);
    rest += (middle[i] - fit) * (middle[i] - fit);
    tone += fit * fit;
  }
  return 10 * std::log10(rest / tone);
}

TEST(Resampler, EqualsTheReferenceAtEveryRate) {
  const Golden golden("codec/resample.safetensors");
  for (const int32_t rate : {8000, 16000, 22050, 24000, 48000}) {
    const at::Tensor in = golden[concat("in_", rate)].contiguous();  // [..., samples]
    std::vector<float> out =
        resample(rate, 44100, {in.data_ptr<float>(), static_cast<size_t>(in.numel())});
    const at::Tensor expected = golden[concat("out_transform_", rate)].reshape({-1});
    const at::Tensor actual =
        at::from_blob(out.data(), {static_cast<int64_t>(out.size())}, at::kFloat);
    // Sums of up to 24 products of numbers below 1 in another order: some 1e-7 apart.
    EXPECT_TRUE(close(actual, expected, 2e-6)) << rate;
  }
}

TEST(Resampler, PiecesOfAnySizeGiveTheSameSamples) {
  const std::pair<int32_t, int32_t> rates[] = {{8000, 44100},   {48000, 44100}, {22050, 44100},
                                               {192000, 44100}, {44099, 44100}, {44100, 8000}};
  for (const auto& [from, to] : rates) {
    const std::vector<float> in = tone(440, from, 20000.0 / from);
    const std::vector<float> whole = resample(from, to, in);
    for (const size_t piece : {1, 2, 7, 160, 4096, 16384, 16385}) {
      const std::vector<float> pieces = resample(from, to, in, piece);
      ASSERT_EQ(pieces.size(), whole.size());
      EXPECT_EQ(std::memcmp(pieces.data(), whole.data(), whole.size() * sizeof(float)), 0)
          << from << " to " << to << " in pieces of " << piece;
    }
  }
}

TEST(Resampler, LengthsAreRoundedUpExactly) {
  for (const auto& [from, to] : {std::pair{8000, 44100},
                                 {48000, 44100},
                                 {44099, 44100},
                                 {192000, 44100},
                                 {44100, 192000},
                                 {4000, 192000}}) {
    for (const size_t length : {0, 1, 2, 3, 159, 160, 161, 5000}) {
      const std::vector<float> in(length, 0.25f);
      const uint64_t expected = (static_cast<uint64_t>(length) * to + from - 1) / from;
      EXPECT_EQ(resample(from, to, in).size(), expected) << from << " to " << to << ": " << length;
    }
  }
  // Beyond 2^24 samples, where a single-precision quotient would be off by one or more.
  EXPECT_EQ(Resampler(48000, 44100).output_count(1'000'000'001), 918'750'001u);
  EXPECT_EQ(Resampler(8000, 44100).output_count(uint64_t{1} << 60),
            (uint64_t{1} << 60) / 80 * 441 + ((uint64_t{1} << 60) % 80 * 441 + 79) / 80);
}

TEST(Resampler, RB_27_EqualRatesPassBitForBit) {
  const float odd[] = {1.5f, -0.0f, 1e-42f, -3e38f, INFINITY, 0.1f};
  std::vector<float> out;
  Resampler resampler(44100, 44100);
  resampler.push(odd, out);
  resampler.finish(out);
  ASSERT_EQ(out.size(), std::size(odd));
  EXPECT_EQ(std::memcmp(out.data(), odd, sizeof odd), 0);
  EXPECT_EQ(resampler.filter_bytes(), 0u);
}

// Three seconds of a 1 kHz tone at each rate: same length, pitch and loudness, and nothing else.
TEST(Resampler, RB_27_AToneKeepsItsLengthPitchAndGainAtEveryRate) {
  for (const int32_t rate :
       {8000, 11025, 16000, 22050, 24000, 44100, 44099, 48000, 96000, 192000}) {
    const std::vector<float> out = resample(rate, 44100, tone(1000, rate, 3));
    EXPECT_EQ(out.size(), 3u * 44100) << rate;
    const double at_tone = amplitude(out, 1000, 44100);
    EXPECT_NEAR(decibel(at_tone / 0.5), 0, 0.1) << rate;
    EXPECT_GT(at_tone, amplitude(out, 999, 44100)) << rate;
    EXPECT_GT(at_tone, amplitude(out, 1001, 44100)) << rate;
    // The window's ripple and its images stay this far down.
    EXPECT_LT(rest_over_tone_db(out, 1000, 44100), -60) << rate;
    EXPECT_LT(decibel(amplitude(out, 20500, 44100) / at_tone), -80) << rate;
  }
}

TEST(Resampler, RB_27_TonesAboveTheNewNyquistFrequencyDoNotFoldBack) {
  // 30 kHz would fold to 14.1 kHz, 60 kHz to 15.9 kHz, 90 kHz to 1.8 kHz. The first side lobe of
  // the filter, which is the reference's, lies at -47 dB; the further ones fall off.
  for (const auto& [frequency, bound] : {std::pair{30000.0, -46}, {60000.0, -70}, {90000.0, -80}}) {
    const std::vector<float> out = resample(192000, 44100, tone(frequency, 192000, 1));
    double peak = 0;
    for (size_t i = out.size() / 8; i < out.size() * 7 / 8; ++i) {
      peak = std::max(peak, static_cast<double>(std::abs(out[i])));
    }
    EXPECT_LT(decibel(peak / 0.5), bound) << frequency;
  }
}

TEST(Resampler, FiltersStaySmallForRatesWithoutACommonDivisor) {
  for (const auto& [from, to] : {std::pair{44099, 44100},
                                 {191999, 44100},
                                 {191999, 192000},
                                 {192000, 4001},
                                 {4001, 192000}}) {
    EXPECT_LT(Resampler(from, to).filter_bytes(), 14u << 20) << from << " to " << to;
  }
}

TEST(Resampler, RatesOutsideTheRangeAreRefused) {
  for (const int32_t rate : {0, -44100, 3999, 192001, INT32_MAX, INT32_MIN}) {
    EXPECT_THAT(error_of([&] { Resampler(rate, 44100); }),
                HasSubstr(concat("REMORA_E_INVALID_ARGUMENT: a sample rate of ", rate)));
    EXPECT_THAT(error_of([&] { Resampler(44100, rate); }), HasSubstr("sample rate"));
  }
}

TEST(MixToMono, IsTheMeanOfTheChannels) {
  std::vector<float> out;
  io::mix_to_mono(std::vector<float>{1, 2, -1, 4}, 2, out);
  EXPECT_THAT(out, testing::ElementsAre(1.5f, 1.5f));
  out.clear();
  io::mix_to_mono(std::vector<float>{0.1f, -0.0f}, 1, out);
  EXPECT_EQ(out[0], 0.1f);
  EXPECT_TRUE(std::signbit(out[1]));
  out.clear();
  io::mix_to_mono(std::vector<float>{3, 6, 0}, 3, out);
  EXPECT_THAT(out, testing::ElementsAre(3.0f));
}

}  // namespace
}  // namespace remora::test
