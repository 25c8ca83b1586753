#include "io/reference_audio.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "io/audio_file.h"
#include "io/resample.h"

namespace remora::io {
namespace {

constexpr size_t kBlockFrames = 1 << 14;

// "0.05": enough digits for a person.
std::string seconds_text(double seconds) { return concat(std::round(seconds * 100) / 100); }

// Mixes and converts one sound; `name` stands in front of its errors.
class Converter {
 public:
  Converter(std::string name, int32_t channels, int32_t source_rate, int32_t rate)
      : name_(std::move(name)), resampler_(make_resampler(source_rate, rate)) {
    out_.source_rate = source_rate;
    out_.source_channels = channels;
  }

  // Finite samples of whole frames.
  void add(std::span<const float> interleaved) {
    mono_.clear();
    mix_to_mono(interleaved, out_.source_channels, mono_);
    frames_ += mono_.size();
    resampler_.push(mono_, out_.samples);
  }

  ReferenceAudio finish(const ReferenceLimits& limits) {
    resampler_.finish(out_.samples);
    out_.seconds = static_cast<double>(frames_) / out_.source_rate;
    if (frames_ == 0) refuse("holds no sound");
    if (out_.seconds < limits.min_seconds) {
      refuse(concat(seconds_text(out_.seconds), " seconds of sound; at least ", limits.min_seconds,
                    " are needed"));
    }
    for (const float sample : out_.samples) out_.peak = std::max(out_.peak, std::abs(sample));
    if (out_.peak < limits.min_peak) refuse("nothing but silence; is it the right recording?");
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(std::string_view reason) const {
    throw Error(Status::kInvalidArgument, concat(name_, ": ", reason));
  }
  Resampler make_resampler(int32_t source_rate, int32_t rate) const {
    try {
      return Resampler(source_rate, rate);
    } catch (const Error& error) {
      throw Error(error.status(), concat(name_, ": ", error.text()));
    }
  }

  std::string name_;
  Resampler resampler_;
  std::vector<float> mono_;  // of one block
  uint64_t frames_ = 0;      // of the source
  ReferenceAudio out_;
};

void check(const CancelFlag* cancel) {
  if (cancel != nullptr) cancel->check("reading reference sound");
}

}  // namespace

ReferenceAudio read_reference_audio(std::shared_ptr<const ByteSource> source, int32_t rate,
                                    const ReferenceLimits& limits, const CancelFlag* cancel) {
  const std::string name = source->name();
  AudioReader reader(std::move(source), limits.max_seconds);
  Converter converter(name, reader.info().channels, reader.info().sample_rate, rate);
  while (true) {
    check(cancel);
    const std::span<const float> block = reader.read();
    if (block.empty()) break;
    converter.add(block);
  }
  ReferenceAudio out = converter.finish(limits);
  out.bad_samples = reader.bad_samples();
  out.damage = reader.damage();
  return out;
}

ReferenceAudio reference_from_pcm(std::span<const float> interleaved, int32_t channels,
                                  int32_t source_rate, int32_t rate, const ReferenceLimits& limits,
                                  const CancelFlag* cancel) {
  static constexpr std::string_view kName = "reference samples";
  if (channels < 1 || interleaved.size() % static_cast<size_t>(channels) != 0) {
    throw Error(Status::kInvalidArgument,
                concat(kName, ": ", interleaved.size(), " samples are no whole frames of ",
                       channels, " channels"));
  }
  Converter converter(std::string(kName), channels, source_rate, rate);
  const size_t frames = interleaved.size() / static_cast<size_t>(channels);
  if (static_cast<double>(frames) > std::round(limits.max_seconds * source_rate)) {
    throw Error(Status::kInvalidArgument,
                concat(kName, ": longer than ", limits.max_seconds,
                       " seconds, the most that is taken here; give a shorter piece"));
  }
  std::vector<float> block;
  uint64_t bad = 0;
  while (!interleaved.empty()) {
    check(cancel);
    const size_t size = std::min(kBlockFrames * static_cast<size_t>(channels), interleaved.size());
    block.assign(interleaved.begin(), interleaved.begin() + static_cast<ptrdiff_t>(size));
    for (float& sample : block) {
      if (std::isfinite(sample)) continue;
      sample = 0;
      ++bad;
    }
    converter.add(block);
    interleaved = interleaved.subspan(size);
  }
  ReferenceAudio out = converter.finish(limits);
  out.bad_samples = bad;
  return out;
}

}  // namespace remora::io
