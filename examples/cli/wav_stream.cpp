#include "wav_stream.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace remora::cli {
namespace {

constexpr uint32_t kUnknownSize = 0xFFFFFFFF;
constexpr uint32_t kFormatPcm = 1;
constexpr uint32_t kFormatFloat = 3;

void put(std::string& out, uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<char>(value >> (8 * i)));
}

int16_t to_pcm16(float sample) {
  if (std::isnan(sample)) return 0;
  return static_cast<int16_t>(std::clamp(std::floor(sample * 32768.0f), -32768.0f, 32767.0f));
}

}  // namespace

std::string wav_stream_header(int32_t sample_rate, SampleType type) {
  const bool is_float = type == SampleType::kFloat32;
  const uint32_t sample_size = is_float ? 4 : 2;
  const auto rate = static_cast<uint32_t>(sample_rate);
  std::string out = "RIFF";
  put(out, kUnknownSize, 4);
  out += "WAVEfmt ";
  put(out, 16, 4);  // bytes of the format chunk
  put(out, is_float ? kFormatFloat : kFormatPcm, 2);
  put(out, 1, 2);  // channels
  put(out, rate, 4);
  put(out, rate * sample_size, 4);
  put(out, sample_size, 2);
  put(out, 8 * sample_size, 2);
  out += "data";
  put(out, kUnknownSize, 4);
  return out;
}

std::string sample_bytes(std::span<const float> pcm, SampleType type) {
  std::string out;
  out.reserve(pcm.size() * 4);
  for (const float sample : pcm) {
    if (type == SampleType::kFloat32) {
      put(out, std::bit_cast<uint32_t>(sample), 4);
    } else {
      put(out, static_cast<uint16_t>(to_pcm16(sample)), 2);
    }
  }
  return out;
}

}  // namespace remora::cli
