#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/error.h"
#include "base/log.h"
#include "io/audio_file.h"
#include "io/output_file.h"
#include "io/sound_stream.h"

namespace remora::io {
namespace {

constexpr size_t kBlockSamples = 1 << 14;

// One way to put samples into a file.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void write(std::span<const float> samples) = 0;
  virtual void finish() = 0;
};

// WAV, whose sizes are put into the header at the end. An own writer: libsndfile would put the time
// of day into float files.
class WavSink final : public Sink {
 public:
  WavSink(OutputFile& file, AudioFormat format, int32_t channels, int32_t rate)
      : file_(file), format_(format), channels_(channels), rate_(rate) {
    put(0, wav_header(format, channels, rate, 0));
    start_ = file_.size();
  }
  void write(std::span<const float> samples) override {
    bytes_.clear();
    append_wav_samples(format_, samples, bytes_);
    // Checked before the disk is filled with what no header can describe.
    wav_header(format_, channels_, rate_, file_.size() - start_ + bytes_.size());
    put(file_.size(), bytes_);
  }
  void finish() override {
    const uint64_t size = file_.size() - start_;
    if (size % 2 != 0) put(file_.size(), std::string(1, '\0'));
    put(0, wav_header(format_, channels_, rate_, size));
  }

 private:
  void put(uint64_t offset, const std::string& bytes) {
    file_.write_at(offset, std::as_bytes(std::span(bytes)));
  }

  OutputFile& file_;
  AudioFormat format_;
  int32_t channels_, rate_;
  uint64_t start_ = 0;
  std::string bytes_;
};

class OutputStream final : public SoundStream {
 public:
  explicit OutputStream(OutputFile& file) : file_(file) {}

 private:
  uint64_t stream_size() const override { return file_.size(); }
  size_t read_at(uint64_t offset, std::span<std::byte> dst) override {
    return file_.read_at(offset, dst);
  }
  void write_at(uint64_t offset, std::span<const std::byte> bytes) override {
    file_.write_at(offset, bytes);
  }

  OutputFile& file_;
};

// FLAC and OGG/Opus, through libsndfile.
class EncoderSink final : public Sink {
 public:
  EncoderSink(OutputFile& file, const SF_INFO& info, int bits)
      : path_(file.path()), stream_(file), bits_(bits) {
    SF_INFO wanted = info;
    std::string reason;
    sound_ = stream_.open(SFM_WRITE, wanted, reason);
    if (sound_ == nullptr) throw Error(Status::kIo, concat(path_, ": cannot write: ", reason));
  }
  void write(std::span<const float> samples) override {
    started_ = true;
    const auto count = static_cast<sf_count_t>(samples.size());
    sf_count_t written = 0;
    if (bits_ > 0) {
      // The encoder takes the highest bits of 32.
      integers_.resize(samples.size());
      std::transform(samples.begin(), samples.end(), integers_.begin(),
                     [&](float sample) { return quantize(sample, bits_) * (1 << (32 - bits_)); });
      written = sf_write_int(sound_.get(), integers_.data(), count);
    } else {
      floats_.resize(samples.size());
      std::transform(samples.begin(), samples.end(), floats_.begin(),
                     [](float sample) { return std::clamp(finite_sample(sample), -1.0f, 1.0f); });
      written = sf_write_float(sound_.get(), floats_.data(), count);
    }
    stream_.rethrow();
    if (written != count) {
      throw Error(Status::kIo, concat(path_, ": cannot write: ", sf_strerror(sound_.get())));
    }
  }
  void finish() override {
    // The encoders write no header either, then.
    if (!started_) {
      throw Error(Status::kInvalidArgument, concat(path_, ": no samples; FLAC and OGG need some"));
    }
    const int code = sf_close(sound_.release());
    stream_.rethrow();
    if (code != 0) throw Error(Status::kIo, concat(path_, ": cannot write its end"));
  }

 private:
  std::string path_;
  OutputStream stream_;  // outlives sound_
  int bits_;             // 0: the encoder takes floats
  bool started_ = false;
  Sound sound_;
  std::vector<int32_t> integers_;
  std::vector<float> floats_;
};

constexpr int kMaxWavChannels = 64;
constexpr int32_t kMaxWavRate = 768000;

bool is_wav(AudioFormat format) {
  return format == AudioFormat::kWavPcm16 || format == AudioFormat::kWavPcm24 ||
         format == AudioFormat::kWavFloat;
}

SF_INFO encoder_info(AudioFormat format, int32_t channels, int32_t rate) {
  SF_INFO info{};
  info.channels = channels;
  info.samplerate = rate;
  info.format = format == AudioFormat::kFlac16   ? SF_FORMAT_FLAC | SF_FORMAT_PCM_16
                : format == AudioFormat::kFlac24 ? SF_FORMAT_FLAC | SF_FORMAT_PCM_24
                                                 : SF_FORMAT_OGG | SF_FORMAT_OPUS;
  return info;
}

int encoder_bits(AudioFormat format) {
  return format == AudioFormat::kFlac16 ? 16 : format == AudioFormat::kFlac24 ? 24 : 0;
}

// Before a file is made.
void check_format(const std::string& path, AudioFormat format, int32_t channels, int32_t rate) {
  bool fits = channels >= 1 && rate >= 1;
  if (is_wav(format)) {
    fits = fits && channels <= kMaxWavChannels && rate <= kMaxWavRate;
  } else {
    SF_INFO info = encoder_info(format, channels, rate);
    fits = fits && sf_format_check(&info) != 0;
  }
  if (fits && format == AudioFormat::kOggOpus) {
    fits = rate == 8000 || rate == 12000 || rate == 16000 || rate == 24000 || rate == 48000;
  }
  if (fits) return;
  const std::string_view hint =
      format == AudioFormat::kOggOpus ? " (Opus has 8000, 12000, 16000, 24000 and 48000 Hz)" : "";
  throw Error(Status::kUnsupported, concat(path, ": ", channels, " channels at ", rate,
                                           " Hz cannot be written in this format", hint,
                                           "; choose another format or rate"));
}

std::unique_ptr<Sink> make_sink(OutputFile& file, AudioFormat format, int32_t channels,
                                int32_t rate) {
  if (is_wav(format)) return std::make_unique<WavSink>(file, format, channels, rate);
  return std::make_unique<EncoderSink>(file, encoder_info(format, channels, rate),
                                       encoder_bits(format));
}

}  // namespace

class AudioWriter::Impl {
 public:
  Impl(const std::string& path, AudioFormat format, int32_t channels, int32_t rate)
      : channels_(static_cast<size_t>(channels)),
        file_(path),
        sink_(make_sink(file_, format, channels, rate)) {}

  void write(std::span<const float> interleaved, const CancelFlag* cancel) {
    if (sink_ == nullptr) throw Error(Status::kInvalidState, concat(file_.path(), ": is finished"));
    if (interleaved.size() % channels_ != 0) {
      throw Error(Status::kInvalidArgument,
                  concat(file_.path(), ": ", interleaved.size(), " samples are no whole frames of ",
                         channels_, " channels"));
    }
    const size_t block = std::max<size_t>(kBlockSamples / channels_, 1) * channels_;
    while (!interleaved.empty()) {
      if (cancel != nullptr) cancel->check("writing sound");
      const auto samples = interleaved.first(std::min(block, interleaved.size()));
      bad_samples_ += static_cast<uint64_t>(std::count_if(
          samples.begin(), samples.end(), [](float sample) { return !std::isfinite(sample); }));
      sink_->write(samples);
      interleaved = interleaved.subspan(samples.size());
    }
  }
  void finish() {
    if (sink_ == nullptr) return;
    sink_->finish();
    sink_.reset();
    file_.commit();
  }
  uint64_t bad_samples() const { return bad_samples_; }

 private:
  size_t channels_;
  OutputFile file_;  // outlives sink_
  std::unique_ptr<Sink> sink_;
  uint64_t bad_samples_ = 0;
};

AudioWriter::AudioWriter(const std::string& utf8_path, AudioFormat format, int32_t channels,
                         int32_t rate) {
  check_format(utf8_path, format, channels, rate);
  impl_ = std::make_unique<Impl>(utf8_path, format, channels, rate);
}
AudioWriter::~AudioWriter() = default;
void AudioWriter::write(std::span<const float> interleaved, const CancelFlag* cancel) {
  impl_->write(interleaved, cancel);
}
void AudioWriter::finish() { impl_->finish(); }
uint64_t AudioWriter::bad_samples() const { return impl_->bad_samples(); }

void write_audio(const std::string& utf8_path, std::span<const float> interleaved, int32_t channels,
                 int32_t rate, AudioFormat format, const CancelFlag* cancel) {
  AudioWriter writer(utf8_path, format, channels, rate);
  writer.write(interleaved, cancel);
  if (cancel != nullptr) cancel->check("writing sound");
  writer.finish();
  if (writer.bad_samples() > 0) {
    log(LogLevel::kWarn,
        concat(utf8_path, ": ", writer.bad_samples(),
               " samples were NaN or infinite and are written as 0 or full scale"));
  }
}

}  // namespace remora::io
