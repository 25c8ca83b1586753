// Sound as bytes for a pipe, where no size can be filled in afterwards.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace remora::cli {

enum class SampleType { kPcm16, kFloat32 };

// The 44 bytes before the samples of a mono WAV of unknown length. Its two size fields are
// 0xFFFFFFFF, the usual way to say "until the end"; nothing else in it is made up.
std::string wav_stream_header(int32_t sample_rate, SampleType type);

// Little-endian samples. 16 bit: louder than full scale saturates, NaN becomes 0.
std::string sample_bytes(std::span<const float> pcm, SampleType type);

}  // namespace remora::cli
