#include "io/resample.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/concat.h"
#include "base/error.h"

namespace remora::io {
namespace {

constexpr double kZeroCrossings = 6;  // of the sinc, on each side
constexpr double kRolloff = 0.99;     // of the lower Nyquist frequency
constexpr size_t kLanes = 8;          // partial sums, so that the compiler can use vectors
constexpr size_t kPiece = 16384;      // input samples taken at once

void check_rate(int32_t rate) {
  if (rate >= Resampler::kMinRate && rate <= Resampler::kMaxRate) return;
  throw Error(Status::kInvalidArgument,
              concat("a sample rate of ", rate, " Hz; ", Resampler::kMinRate, " to ",
                     Resampler::kMaxRate, " Hz are converted"));
}

// Windowed sinc at `t` zero crossings from its middle.
double kernel(double t) {
  if (std::abs(t) >= kZeroCrossings) return 0;  // the window is below 1e-32 there
  if (t == 0) return 1;
  const double window = std::cos(t * std::numbers::pi / (2 * kZeroCrossings));
  const double angle = std::numbers::pi * t;
  return std::sin(angle) / angle * window * window;
}

// `count` is a multiple of kLanes. The order of the sums is always the same.
float dot(const float* a, const float* b, size_t count) {
  float sums[kLanes] = {};
  for (size_t i = 0; i < count; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

}  // namespace

Resampler::Resampler(int32_t from_rate, int32_t to_rate) {
  check_rate(from_rate);
  check_rate(to_rate);
  const int32_t divisor = std::gcd(from_rate, to_rate);
  step_ = from_rate / divisor;
  phases_ = to_rate / divisor;
  if (step_ != phases_) build_filter();
}

void Resampler::build_filter() {
  const double cutoff = kRolloff * static_cast<double>(std::min(step_, phases_));
  const auto step = static_cast<double>(step_);
  const double reach = kZeroCrossings * step / cutoff;  // input samples, on each side
  width_ = static_cast<int64_t>(std::ceil(reach));
  const auto needed = static_cast<size_t>(std::ceil(2 * reach)) + 2;
  taps_per_phase_ = (needed + kLanes - 1) / kLanes * kLanes;

  taps_.resize(static_cast<size_t>(phases_) * taps_per_phase_);
  first_.resize(static_cast<size_t>(phases_));
  for (size_t phase = 0; phase < first_.size(); ++phase) {
    // The reference rounds this quotient to single precision and computes the rest in double.
    const double shift = static_cast<float>(phase) / static_cast<float>(phases_);
    first_[phase] =
        static_cast<int32_t>(std::floor(static_cast<double>(width_) + step * shift - reach));
    for (size_t tap = 0; tap < taps_per_phase_; ++tap) {
      const auto position = static_cast<double>(first_[phase] - width_ + static_cast<int64_t>(tap));
      taps_[phase * taps_per_phase_ + tap] =
          static_cast<float>(kernel((position / step - shift) * cutoff) * cutoff / step);
    }
  }
  pending_.assign(static_cast<size_t>(width_), 0.0f);
}

void Resampler::push(std::span<const float> block, std::vector<float>& out) {
  pushed_ += block.size();
  if (step_ == phases_) {
    out.insert(out.end(), block.begin(), block.end());
    return;
  }
  while (!block.empty()) {
    const std::span<const float> piece = block.first(std::min(block.size(), kPiece));
    pending_.insert(pending_.end(), piece.begin(), piece.end());
    block = block.subspan(piece.size());
    drain(output_count(pushed_), out);
  }
}

void Resampler::finish(std::vector<float>& out) {
  if (step_ == phases_) return;
  // The last sample's taps start inside the padded signal.
  pending_.resize(pending_.size() + taps_per_phase_, 0.0f);
  drain(output_count(pushed_), out);
}

uint64_t Resampler::output_count(uint64_t count) const {
  const auto step = static_cast<uint64_t>(step_);
  const auto phases = static_cast<uint64_t>(phases_);
  return count / step * phases + (count % step * phases + step - 1) / step;
}

// Makes samples, up to `limit` of them in all, as far as the pending input reaches.
void Resampler::drain(uint64_t limit, std::vector<float>& out) {
  const auto taps = static_cast<int64_t>(taps_per_phase_);
  const auto size = static_cast<int64_t>(pending_.size());
  int64_t start = 0;  // in pending_, of the next sample's taps
  while (made_ < limit) {
    start = turn_at_ + first_[phase_] - pending_at_;
    if (start + taps > size) break;
    out.push_back(dot(&taps_[phase_ * taps_per_phase_], &pending_[static_cast<size_t>(start)],
                      taps_per_phase_));
    ++made_;
    if (++phase_ == first_.size()) {
      phase_ = 0;
      turn_at_ += step_;
    }
  }
  // Starts never go back, so nothing before this one is needed again.
  const int64_t used = std::min(start, size);
  pending_.erase(pending_.begin(), pending_.begin() + used);
  pending_at_ += used;
}

void mix_to_mono(std::span<const float> interleaved, int32_t channels, std::vector<float>& out) {
  if (channels == 1) {
    out.insert(out.end(), interleaved.begin(), interleaved.end());
    return;
  }
  const auto width = static_cast<size_t>(channels);
  for (size_t at = 0; at + width <= interleaved.size(); at += width) {
    double sum = 0;
    for (size_t channel = 0; channel < width; ++channel) sum += interleaved[at + channel];
    out.push_back(static_cast<float>(sum / channels));
  }
}

}  // namespace remora::io
