#include "resample.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

namespace remora::cli {
namespace {

constexpr int kZeroCrossings = 24;  // of the sinc on each side: a transition band of some 4 %
constexpr double kRollOff = 0.96;   // of the lower rate's half, so that nothing folds back

// The low-pass at `x` samples of the input from its centre; `cutoff` 1 is half the input's rate.
double kernel(double x, double cutoff) {
  const double width = kZeroCrossings / cutoff;
  if (std::abs(x) >= width) return 0;
  const double phase = std::numbers::pi * cutoff * x;
  const double sinc = x == 0 ? 1 : std::sin(phase) / phase;
  const double window = 0.5 + 0.5 * std::cos(std::numbers::pi * x / width);  // Hann
  return cutoff * sinc * window;
}

}  // namespace

std::vector<float> resample(std::span<const float> pcm, int32_t from, int32_t to) {
  if (from == to) return {pcm.begin(), pcm.end()};
  // Output sample i lies at input time i * step / phases: one set of taps for each of the phases.
  const int64_t divisor = std::gcd(from, to);
  const int64_t step = from / divisor;
  const int64_t phases = to / divisor;
  const double cutoff = kRollOff * std::min(1.0, static_cast<double>(to) / from);
  const auto reach = static_cast<int64_t>(std::ceil(kZeroCrossings / cutoff));
  const int64_t taps = 2 * reach;
  std::vector<double> filter(static_cast<size_t>(phases * taps));  // [phases, taps]
  for (int64_t phase = 0; phase < phases; ++phase) {
    const double fraction = static_cast<double>(phase) / static_cast<double>(phases);
    for (int64_t tap = 0; tap < taps; ++tap) {
      filter[static_cast<size_t>(phase * taps + tap)] =
          kernel(static_cast<double>(tap - reach + 1) - fraction, cutoff);
    }
  }
  const auto n_in = static_cast<int64_t>(pcm.size());
  const int64_t n_out = (n_in * phases + step - 1) / step;
  std::vector<float> out(static_cast<size_t>(n_out));
  for (int64_t i = 0; i < n_out; ++i) {
    const int64_t centre = i * step / phases;
    const double* weights = filter.data() + i * step % phases * taps;
    double sum = 0;
    for (int64_t tap = 0; tap < taps; ++tap) {
      const int64_t at = centre + tap - reach + 1;
      if (at >= 0 && at < n_in) sum += weights[tap] * pcm[static_cast<size_t>(at)];
    }
    out[static_cast<size_t>(i)] = static_cast<float>(sum);
  }
  return out;
}

}  // namespace remora::cli
