// The sound file formats that are written, and the integers that samples become in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
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

// floor(sample * 2^(bits - 1)), held inside the range of `bits` (16 or 24); 0 for NaN.
int32_t quantize(float sample, int bits);

// `sample`, except that NaN becomes 0 and an infinity the full scale of its sign: what is written
// where samples stay floating point.
float finite_sample(float sample);

// The header of a WAV file of `data_bytes` bytes of samples. Without a size: the header of a stream
// whose end is not known, with 0xFFFFFFFF in all its size fields; it comes once, first, and only
// samples follow. Format: one of kWav*. Throws Error{kUnsupported} where a 32-bit size cannot hold
// the data.
std::string wav_header(AudioFormat format, int32_t channels, int32_t rate,
                       std::optional<uint64_t> data_bytes);

// Appends samples as the data of a WAV file holds them (little-endian). Finite float samples keep
// their bits.
void append_wav_samples(AudioFormat format, std::span<const float> samples, std::string& out);

}  // namespace remora::io
