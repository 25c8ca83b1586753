// Sample-rate conversion and mixing to mono.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace remora::io {

// Polyphase resampler: a sinc low-pass at 0.99 of the lower Nyquist frequency under a squared
// cosine window six zero crossings wide, so that results equal those of the resampler that the
// models' reference audio went through in training (within 2e-6).
//
// Push a signal in pieces of any size, then finish: the samples do not depend on the pieces.
// Memory does not grow with the length; the filter takes at most 14 MB, for the worst pair of
// rates. Equal rates pass bit for bit. One signal per object; not for use from two threads at once.
class Resampler {
 public:
  static constexpr int32_t kMinRate = 4000;  // Hz
  static constexpr int32_t kMaxRate = 192000;

  // Throws Error{kInvalidArgument} for a rate outside kMinRate to kMaxRate.
  Resampler(int32_t from_rate, int32_t to_rate);

  // Appends to `out` what can be told from the input so far.
  void push(std::span<const float> block, std::vector<float>& out);
  // Appends the rest: after it exactly ceil(to / from * pushed) samples have come out.
  void finish(std::vector<float>& out);

  // Samples that come out for `count` that go in, exactly.
  uint64_t output_count(uint64_t count) const;
  // Bytes that the filter takes.
  size_t filter_bytes() const {
    return taps_.size() * sizeof(float) + first_.size() * sizeof(int32_t);
  }

 private:
  void build_filter();
  void drain(uint64_t limit, std::vector<float>& out);

  // The rates without their common divisor: `step_` samples in for `phases_` samples out.
  int64_t step_;
  int64_t phases_;
  int64_t width_ = 0;           // zeros in front of the signal
  size_t taps_per_phase_ = 0;   // a multiple of kLanes
  std::vector<float> taps_;     // [phases, taps_per_phase]
  std::vector<int32_t> first_;  // [phases]: where a phase's taps start
  // The signal with `width_` zeros in front, from position `pending_at_` on.
  std::vector<float> pending_;
  int64_t pending_at_ = 0;
  uint64_t pushed_ = 0;  // samples in
  uint64_t made_ = 0;    // samples out: made_ = turns * phases_ + phase_
  size_t phase_ = 0;
  int64_t turn_at_ = 0;  // turns * step_
};

// Appends the arithmetic mean of the channels of each frame. `interleaved` holds whole frames.
void mix_to_mono(std::span<const float> interleaved, int32_t channels, std::vector<float>& out);

}  // namespace remora::io
