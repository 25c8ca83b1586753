#include "io/audio_file.h"

#include <sndfile.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <memory>
#include <system_error>

#include "base/concat.h"
#include "base/error.h"

namespace remora::io {
namespace {

constexpr size_t kBlock = 1 << 14;  // samples converted at a time

int sndfile_format(AudioFormat format) {
  switch (format) {
    case AudioFormat::kWavPcm16:
      return SF_FORMAT_WAV | SF_FORMAT_PCM_16;
    case AudioFormat::kWavPcm24:
      return SF_FORMAT_WAV | SF_FORMAT_PCM_24;
    case AudioFormat::kWavFloat:
      return SF_FORMAT_WAV | SF_FORMAT_FLOAT;
    case AudioFormat::kFlac16:
      return SF_FORMAT_FLAC | SF_FORMAT_PCM_16;
    case AudioFormat::kFlac24:
      return SF_FORMAT_FLAC | SF_FORMAT_PCM_24;
    case AudioFormat::kOggOpus:
      return SF_FORMAT_OGG | SF_FORMAT_OPUS;
  }
  return 0;
}

struct CloseSound {
  void operator()(SNDFILE* file) const { sf_close(file); }
};
using Sound = std::unique_ptr<SNDFILE, CloseSound>;

// A file under a name of its own until commit(); removed if that never comes.
class PendingFile {
 public:
  explicit PendingFile(const std::string& path)
      : path_(path), pending_(concat(path, ".part", static_cast<int64_t>(::getpid()))) {}
  ~PendingFile() {
    if (!committed_) std::remove(pending_.c_str());
  }
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  const std::string& name() const { return pending_; }
  void commit() {
    if (std::rename(pending_.c_str(), path_.c_str()) != 0) {
      throw Error(Status::kIo,
                  concat(path_, ": cannot be written: ", std::generic_category().message(errno)));
    }
    committed_ = true;
  }

 private:
  std::string path_, pending_;
  bool committed_ = false;
};

void write_blocks(SNDFILE* file, std::span<const float> samples, const std::string& path) {
  std::array<float, kBlock> block;
  while (!samples.empty()) {
    const size_t n = std::min(samples.size(), block.size());
    std::transform(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(n), block.begin(),
                   [](float sample) { return std::isnan(sample) ? 0.0F : sample; });
    if (sf_write_float(file, block.data(), static_cast<sf_count_t>(n)) !=
        static_cast<sf_count_t>(n)) {
      throw Error(Status::kIo, concat(path, ": cannot be written: ", sf_strerror(file)));
    }
    samples = samples.subspan(n);
  }
}

}  // namespace

void write_audio(const std::string& utf8_path, std::span<const float> interleaved, int32_t channels,
                 int32_t rate, AudioFormat format) {
  SF_INFO info{};
  info.channels = channels;
  info.samplerate = rate;
  info.format = sndfile_format(format);
  if (sf_format_check(&info) == 0) {
    throw Error(Status::kUnsupported,
                concat(utf8_path, ": ", channels, " channels at ", rate,
                       " Hz cannot be written in this format; choose another or another rate"));
  }
  PendingFile pending(utf8_path);
  Sound file(sf_open(pending.name().c_str(), SFM_WRITE, &info));
  if (!file) {
    throw Error(Status::kIo, concat(utf8_path, ": cannot be written: ", sf_strerror(nullptr)));
  }
  // Integer formats: saturate in place of wrapping.
  sf_command(file.get(), SFC_SET_CLIPPING, nullptr, SF_TRUE);
  write_blocks(file.get(), interleaved, utf8_path);
  if (sf_close(file.release()) != 0) {
    throw Error(Status::kIo,
                concat(utf8_path, ": cannot be written to its end; is the disk full?"));
  }
  pending.commit();
}

}  // namespace remora::io
