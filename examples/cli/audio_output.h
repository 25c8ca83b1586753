// Where sound goes: a file, standard output, or nowhere.
#pragma once

#include <remora/remora.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace CLI {
class App;
}

namespace remora::cli {

struct AudioOptions {
  std::string path;  // "-": standard output; "": none
  bool raw = false;  // samples without a header, to standard output
  bool float_samples = false;

  bool wanted() const { return raw || !path.empty(); }
  bool to_stdout() const { return raw || path == "-"; }
};

void add_audio_options(CLI::App& command, AudioOptions& options);

// Throws Failure for an unknown extension, options that contradict each other or a missing folder:
// before the work, not after it. `json`: whether a report goes to standard output, too.
void check_audio_options(const AudioOptions& options, bool json);

class AudioOutput {
 public:
  virtual ~AudioOutput() = default;
  virtual void write(std::span<const float> pcm) = 0;
  virtual void finish() = 0;  // only what was finished is there

  uint64_t samples() const { return samples_; }

 protected:
  uint64_t samples_ = 0;
};

// A file is written whole by finish(); standard output gets each piece at once.
std::unique_ptr<AudioOutput> open_audio_output(const AudioOptions& options, int32_t sample_rate);

}  // namespace remora::cli
