#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/error.h"
#include "io/audio_file.h"
#include "io/ogg_headers.h"
#include "io/quote.h"
#include "io/sound_bytes.h"
#include "io/sound_stream.h"

namespace remora::io {
namespace {

constexpr size_t kBlockSamples = 1 << 14;  // over all channels

class InputStream final : public SoundStream {
 public:
  explicit InputStream(SoundBytes bytes) : bytes_(std::move(bytes)) {}
  bool empty() const { return bytes_.size() == 0; }

 private:
  uint64_t stream_size() const override { return bytes_.size(); }
  size_t read_at(uint64_t offset, std::span<std::byte> dst) override {
    return bytes_.read_at(offset, dst);
  }
  void write_at(uint64_t, std::span<const std::byte>) override {
    throw Error(Status::kInternal, "the sound decoder writes");
  }

  SoundBytes bytes_;
};

bool decoder_has(int major) {
  int count = 0;
  sf_command(nullptr, SFC_GET_FORMAT_MAJOR_COUNT, &count, sizeof count);
  for (int i = 0; i < count; ++i) {
    SF_FORMAT_INFO format{};
    format.format = i;
    sf_command(nullptr, SFC_GET_FORMAT_MAJOR, &format, sizeof format);
    if (format.format == major) return true;
  }
  return false;
}

[[noreturn]] void refuse(const ByteSource& source, std::string_view reason) {
  throw Error(Status::kFormat, concat(source.name(), ": not readable as sound: ", reason,
                                      "; this build reads ", readable_audio_kinds()));
}

// Frames in `seconds`, as many as a counter can hold for an endless time.
uint64_t frames_in(double seconds, int32_t rate) {
  const double frames = std::round(seconds * rate);
  return frames < 9e18 ? static_cast<uint64_t>(std::max(frames, 0.0))
                       : std::numeric_limits<uint64_t>::max();
}

}  // namespace

std::string readable_audio_kinds() {
  static constexpr std::pair<int, std::string_view> kKinds[] = {
      {SF_FORMAT_WAV, "WAV"},  {SF_FORMAT_AIFF, "AIFF"}, {SF_FORMAT_AU, "AU"},
      {SF_FORMAT_CAF, "CAF"},  {SF_FORMAT_FLAC, "FLAC"}, {SF_FORMAT_OGG, "OGG (Vorbis, Opus)"},
      {SF_FORMAT_MPEG, "MP3"},
  };
  std::string out;
  for (const auto& [major, name] : kKinds) {
    if (decoder_has(major)) out += concat(out.empty() ? "" : ", ", name);
  }
  return out;
}

class AudioReader::Impl {
 public:
  Impl(std::shared_ptr<const ByteSource> source, double max_seconds)
      : source_(std::move(source)), stream_(sound_bytes(source_)), max_seconds_(max_seconds) {
    info_.kind = sound_kind(*source_);
    if (info_.kind.empty()) refuse(*source_, other_kind(*source_));
    if (stream_.empty()) refuse(*source_, concat(info_.kind, ", no three whole frames"));
    if (info_.kind == "OGG" && !has_ogg_headers(*source_)) {
      refuse(*source_, "OGG, its headers are not whole (incomplete download?)");
    }
    SF_INFO info{};
    std::string reason;
    sound_ = stream_.open(SFM_READ, info, reason);
    if (sound_ == nullptr) refuse(*source_, concat(info_.kind, ", ", printable(reason)));
    if (info.channels < 1 || info.samplerate < 1) refuse(*source_, "no channels or no rate");
    info_.sample_rate = info.samplerate;
    info_.channels = info.channels;
    info_.frames = static_cast<uint64_t>(std::max<sf_count_t>(info.frames, 0));
    max_frames_ = frames_in(max_seconds, info.samplerate);
    const auto channels = static_cast<size_t>(info.channels);
    block_.resize(std::max<size_t>(kBlockSamples / channels, 1) * channels);
  }

  std::span<const float> read() {
    const auto channels = static_cast<size_t>(info_.channels);
    const sf_count_t n = sf_readf_float(sound_.get(), block_.data(),
                                        static_cast<sf_count_t>(block_.size() / channels));
    stream_.rethrow();
    if (n <= 0) {
      end();
      return {};
    }
    frames_read_ += static_cast<uint64_t>(n);
    if (frames_read_ > max_frames_) {
      throw Error(Status::kInvalidArgument,
                  concat(source_->name(), ": longer than ", max_seconds_,
                         " seconds, the most that is taken here; give a shorter piece"));
    }
    const std::span<float> samples(block_.data(), static_cast<size_t>(n) * channels);
    for (float& sample : samples) {
      if (std::isfinite(sample)) continue;
      sample = 0;
      ++bad_samples_;
    }
    return samples;
  }

  const AudioInfo& info() const { return info_; }
  uint64_t frames_read() const { return frames_read_; }
  uint64_t bad_samples() const { return bad_samples_; }
  const std::string& damage() const { return damage_; }

 private:
  void end() {
    if (sf_error(sound_.get()) == SF_ERR_NO_ERROR) return;
    damage_ = printable(sf_strerror(sound_.get()));
    if (frames_read_ == 0) refuse(*source_, concat(info_.kind, ", ", damage_));
  }

  std::shared_ptr<const ByteSource> source_;
  InputStream stream_;  // outlives sound_
  double max_seconds_;
  AudioInfo info_;
  Sound sound_;
  std::vector<float> block_;
  uint64_t max_frames_ = 0;
  uint64_t frames_read_ = 0;
  uint64_t bad_samples_ = 0;
  std::string damage_;
};

AudioReader::AudioReader(std::shared_ptr<const ByteSource> source, double max_seconds)
    : impl_(std::make_unique<Impl>(std::move(source), max_seconds)) {}
AudioReader::~AudioReader() = default;
const AudioInfo& AudioReader::info() const { return impl_->info(); }
std::span<const float> AudioReader::read() { return impl_->read(); }
uint64_t AudioReader::frames_read() const { return impl_->frames_read(); }
uint64_t AudioReader::bad_samples() const { return impl_->bad_samples(); }
const std::string& AudioReader::damage() const { return impl_->damage(); }

AudioInfo describe_audio(const std::string& utf8_path) {
  return AudioReader(open_file(utf8_path)).info();
}

}  // namespace remora::io
