// Reference sound for a voice: anything that can be read becomes mono samples at one rate.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/cancel.h"
#include "io/byte_source.h"

namespace remora::io {

struct ReferenceLimits {
  double min_seconds = 0.2;
  double max_seconds = 600;
  // Quieter than this all through (full scale is 1) counts as silence; 0 takes silence too.
  float min_peak = 1e-4f;
};

struct ReferenceAudio {
  std::vector<float> samples;  // mono, at the rate asked for
  double seconds = 0;
  int32_t source_rate = 0;  // Hz
  int32_t source_channels = 0;
  float peak = 0;            // largest magnitude of `samples`
  uint64_t bad_samples = 0;  // NaN or infinite in the source, taken as 0
  std::string damage;        // why the file ended early; empty otherwise
};

// One pass from start to end in blocks: channels are averaged, the rate is converted. Memory is
// that of the result and some blocks, whatever the file's header says. `cancel` (may be null) is
// looked at for every block. Throws Error{kFormat}: not readable as sound. kInvalidArgument:
// shorter or longer than the limits, silent, or of a rate that is not converted. kCancelled. kIo or
// kCallback: the source failed.
ReferenceAudio read_reference_audio(std::shared_ptr<const ByteSource> source, int32_t rate,
                                    const ReferenceLimits& limits = {},
                                    const CancelFlag* cancel = nullptr);

// The same from samples in memory: whole frames of `channels`, at `source_rate`.
ReferenceAudio reference_from_pcm(std::span<const float> interleaved, int32_t channels,
                                  int32_t source_rate, int32_t rate,
                                  const ReferenceLimits& limits = {},
                                  const CancelFlag* cancel = nullptr);

}  // namespace remora::io
