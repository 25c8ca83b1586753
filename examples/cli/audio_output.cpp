#include "audio_output.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <bit>
#include <cctype>
#include <filesystem>
#include <vector>

#include "failure.h"
#include "files.h"
#include "resample.h"

namespace remora::cli {
namespace {

static_assert(std::endian::native == std::endian::little, "samples go out as they lie in memory");

constexpr int32_t kOpusRate = 48000;

remora_audio_format format_of(const AudioOptions& options) {
  std::string extension = std::filesystem::path(options.path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const bool is_float = options.float_samples;
  if (extension == ".wav") return is_float ? REMORA_AUDIO_WAV_FLOAT : REMORA_AUDIO_WAV_PCM16;
  if (is_float) throw Failure(kUsage, options.path + ": only .wav holds --float samples");
  if (extension == ".flac") return REMORA_AUDIO_FLAC16;
  if (extension == ".ogg" || extension == ".opus") return REMORA_AUDIO_OGG_OPUS;
  throw Failure(kUsage, options.path + ": unknown kind of sound file; take .wav, .flac or .ogg");
}

class FileOutput : public AudioOutput {
 public:
  FileOutput(const AudioOptions& options, int32_t sample_rate)
      : path_(options.path), format_(format_of(options)), sample_rate_(sample_rate) {}

  void write(std::span<const float> pcm) override {
    pcm_.insert(pcm_.end(), pcm.begin(), pcm.end());
    samples_ += pcm.size();
  }

  void finish() override {
    if (format_ == REMORA_AUDIO_OGG_OPUS) {  // knows few rates, and 48 kHz is its own
      pcm_ = resample(pcm_, sample_rate_, kOpusRate);
      sample_rate_ = kOpusRate;
    }
    check(remora_audio_write(path_.c_str(), pcm_.data(), pcm_.size(), 1, sample_rate_, format_));
  }

 private:
  std::string path_;
  remora_audio_format format_;
  int32_t sample_rate_;
  std::vector<float> pcm_;
};

class StdoutOutput : public AudioOutput {
 public:
  StdoutOutput(const AudioOptions& options, int32_t sample_rate)
      : is_float_(options.float_samples) {
    if (options.raw) return;
    const auto format = is_float_ ? REMORA_AUDIO_WAV_FLOAT : REMORA_AUDIO_WAV_PCM16;
    std::vector<char> header;
    size_t needed = 0;
    check(remora_audio_stream_header(format, 1, sample_rate, nullptr, 0, &needed));
    header.resize(needed);
    check(remora_audio_stream_header(format, 1, sample_rate, header.data(), needed, &needed));
    write_stdout(header.data(), header.size());
  }

  void write(std::span<const float> pcm) override {
    if (is_float_) {
      write_stdout(pcm.data(), pcm.size_bytes());
    } else {
      std::vector<int16_t> samples(pcm.size());
      check(remora_audio_to_s16(pcm.data(), pcm.size(), samples.data()));
      write_stdout(samples.data(), samples.size() * sizeof(int16_t));
    }
    samples_ += pcm.size();
  }

  void finish() override {}

 private:
  bool is_float_;
};

class NoOutput : public AudioOutput {
 public:
  void write(std::span<const float> pcm) override { samples_ += pcm.size(); }
  void finish() override {}
};

}  // namespace

void add_audio_options(CLI::App& command, AudioOptions& options) {
  command
      .add_option("-o,--output", options.path,
                  "Sound file: .wav, .flac or .ogg; - writes a WAV stream to stdout")
      ->type_name("FILE");
  command.add_flag("--raw", options.raw,
                   "Samples without a header to stdout: 16 bit, or 32-bit float with --float");
  command.add_flag("--float", options.float_samples, "32-bit float samples instead of 16 bit");
}

void check_audio_options(const AudioOptions& options, bool json) {
  if (options.to_stdout() && json) {
    throw Failure(kUsage, "--json and the sound cannot both go to standard output");
  }
  if (options.raw && !options.path.empty() && options.path != "-") {
    throw Failure(kUsage, "--raw writes to standard output: leave -o " + options.path + " out");
  }
  if (options.wanted() && !options.to_stdout()) {
    format_of(options);
    check_writable_place(options.path);
  }
}

std::unique_ptr<AudioOutput> open_audio_output(const AudioOptions& options, int32_t sample_rate) {
  if (!options.wanted()) return std::make_unique<NoOutput>();
  if (options.to_stdout()) return std::make_unique<StdoutOutput>(options, sample_rate);
  return std::make_unique<FileOutput>(options, sample_rate);
}

}  // namespace remora::cli
