// Sound files: what one holds, its samples block by block, and writing one.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>

#include "base/cancel.h"
#include "io/audio_format.h"
#include "io/byte_source.h"

namespace remora::io {

struct AudioInfo {
  int32_t sample_rate = 0;  // Hz
  int32_t channels = 0;
  // As the file says. Some files are wrong about it: for display, not for allocating.
  uint64_t frames = 0;
  std::string kind;  // such as "WAV" or "MP3"
};

// Throws Error{kIo} where it cannot be opened and kFormat where it is no sound file that is read.
AudioInfo describe_audio(const std::string& utf8_path);

// "WAV, AIFF, ...": what this build of libsndfile reads, of the kinds that are let through to it.
std::string readable_audio_kinds();

// Reads a sound file from its start to its end. Its content decides what it is. WAV headers with
// sizes of 0, 0xFFFFFFFF or too much, as recorders and streams leave them, are read as far as there
// are samples; a damaged or cut file gives the samples before the damage.
// Not for use from two threads at once.
class AudioReader {
 public:
  // Throws Error{kFormat} naming the file, the reason and the kinds that can be read. `max_seconds`
  // bounds what read() gives.
  explicit AudioReader(std::shared_ptr<const ByteSource> source,
                       double max_seconds = std::numeric_limits<double>::infinity());
  ~AudioReader();
  AudioReader(const AudioReader&) = delete;
  AudioReader& operator=(const AudioReader&) = delete;

  const AudioInfo& info() const;
  // The next frames, interleaved, full scale at -1 and 1; empty at the end. Valid until the next
  // call. NaN and infinities come as 0. Throws Error{kInvalidArgument} when the sound goes on
  // beyond max_seconds, kIo or kCallback when the source fails, kFormat when not a single sample
  // can be decoded.
  std::span<const float> read();

  uint64_t frames_read() const;
  // Samples that were NaN or infinite.
  uint64_t bad_samples() const;
  // Why the file ended early, as far as that is known; empty otherwise.
  const std::string& damage() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// Writes a sound file. It takes its name only in finish(), so a run that fails leaves no half file.
// Integer samples are floor(x * 2^(bits - 1)), held inside the range; float samples keep their
// bits; NaN becomes 0, an infinity full scale. The same samples give the same bytes (but for OGG,
// whose streams carry a random number). Not for use from two threads at once.
class AudioWriter {
 public:
  // Throws Error{kUnsupported} for a rate or number of channels that the format does not have,
  // Error{kIo} where the file cannot be made.
  AudioWriter(const std::string& utf8_path, AudioFormat format, int32_t channels, int32_t rate);
  ~AudioWriter();
  AudioWriter(const AudioWriter&) = delete;
  AudioWriter& operator=(const AudioWriter&) = delete;

  // Whole frames. Throws Error{kIo} when they do not fit the disk, Error{kCancelled} within a block
  // of `cancel` being raised.
  void write(std::span<const float> interleaved, const CancelFlag* cancel = nullptr);
  // Throws Error{kInvalidArgument} for FLAC or OGG without samples.
  void finish();
  // Samples that were NaN or infinite.
  uint64_t bad_samples() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// All at once; a warning in the log when there were bad samples. Throws Error{kCancelled} within a
// block of `cancel` being raised; nothing is left under the name then, and a file that was there
// stays.
void write_audio(const std::string& utf8_path, std::span<const float> interleaved, int32_t channels,
                 int32_t rate, AudioFormat format, const CancelFlag* cancel = nullptr);

}  // namespace remora::io
