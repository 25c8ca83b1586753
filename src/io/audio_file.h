// Sound files through libsndfile.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace remora::io {

// Values equal REMORA_AUDIO_* in remora.h.
enum class AudioFormat : int32_t {
  kWavPcm16 = 0,
  kWavPcm24 = 1,
  kWavFloat = 2,
  kFlac16 = 3,
  kFlac24 = 4,
  kOggOpus = 5,
};

// Writes interleaved samples; integer formats saturate, NaN becomes 0. The file takes its name only
// when it is complete. Throws Error{kIo} when it cannot be written, Error{kUnsupported} when this
// build of libsndfile lacks the format or the format lacks the rate.
void write_audio(const std::string& utf8_path, std::span<const float> interleaved, int32_t channels,
                 int32_t rate, AudioFormat format);

}  // namespace remora::io
