#include "resample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

namespace remora::cli {
namespace {

std::vector<float> tone(double hertz, int32_t rate, size_t n) {
  std::vector<float> pcm(n);
  for (size_t i = 0; i < n; ++i) {
    pcm[i] = static_cast<float>(
        0.5 * std::sin(2 * std::numbers::pi * hertz * static_cast<double>(i) / rate));
  }
  return pcm;
}

// Away from the ends, where the filter runs out of samples.
double worst_inside(const std::vector<float>& a, const std::vector<float>& b) {
  double worst = 0;
  for (size_t i = 100; i + 100 < std::min(a.size(), b.size()); ++i) {
    worst = std::max(worst, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return worst;
}

TEST(Resample, TonesKeepTheirPitchLevelAndPlace) {
  for (const double hertz : {20.0, 1000.0, 10000.0, 18000.0}) {
    const std::vector<float> out = resample(tone(hertz, 44100, 44100), 44100, 48000);
    EXPECT_EQ(out.size(), 48000u);
    // 24 zero crossings under a Hann window: ripple below -60 dB of the tone
    EXPECT_LT(worst_inside(out, tone(hertz, 48000, 48000)), 0.5e-3) << hertz;
  }
}

TEST(Resample, NothingFoldsBackOnTheWayDown) {
  const std::vector<float> out = resample(tone(15000, 44100, 44100), 44100, 16000);
  EXPECT_LT(worst_inside(out, std::vector<float>(out.size())), 1e-3);
}

TEST(Resample, LengthIsThatOfTheTime) {
  EXPECT_EQ(resample(std::vector<float>(1), 44100, 48000).size(), 2u);
  EXPECT_EQ(resample(std::vector<float>(147), 44100, 48000).size(), 160u);
  EXPECT_EQ(resample({}, 44100, 48000).size(), 0u);
  EXPECT_EQ(resample(std::vector<float>(7, 0.25f), 8000, 8000), std::vector<float>(7, 0.25f));
}

}  // namespace
}  // namespace remora::cli
