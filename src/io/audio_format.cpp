#include "io/audio_format.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/concat.h"
#include "base/error.h"

namespace remora::io {
namespace {

constexpr uint32_t kUnknownSize = 0xFFFFFFFF;
constexpr uint16_t kPcmTag = 1;
constexpr uint16_t kFloatTag = 3;

void append_little(std::string& out, uint32_t value, size_t width) {
  for (size_t i = 0; i < width; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
}

int bits_of(AudioFormat format) {
  switch (format) {
    case AudioFormat::kWavPcm16:
      return 16;
    case AudioFormat::kWavPcm24:
      return 24;
    case AudioFormat::kWavFloat:
      return 32;
    default:
      throw Error(Status::kInternal, "a WAV header was asked for another format");
  }
}

}  // namespace

int32_t quantize(float sample, int bits) {
  if (std::isnan(sample)) return 0;
  const auto limit = static_cast<double>(int64_t{1} << (bits - 1));
  return static_cast<int32_t>(std::clamp(std::floor(sample * limit), -limit, limit - 1));
}

float finite_sample(float sample) {
  if (std::isfinite(sample)) return sample;
  return std::isnan(sample) ? 0.0f : std::copysign(1.0f, sample);
}

std::string wav_header(AudioFormat format, int32_t channels, int32_t rate,
                       std::optional<uint64_t> data_bytes) {
  const bool is_float = format == AudioFormat::kWavFloat;
  const auto bits = static_cast<uint32_t>(bits_of(format));
  const uint32_t frame_bytes = static_cast<uint32_t>(channels) * bits / 8;
  // Other than PCM needs an (empty) extension and a count of frames.
  const uint32_t format_size = is_float ? 18 : 16;
  const uint32_t head = 4 + 8 + format_size + (is_float ? 12 : 0) + 8;
  if (data_bytes && *data_bytes > kUnknownSize - head - 1) {
    throw Error(
        Status::kUnsupported,
        concat(*data_bytes, " bytes of samples; a WAV file holds at most 4 GiB, FLAC more"));
  }
  const uint32_t data = data_bytes ? static_cast<uint32_t>(*data_bytes) : kUnknownSize;
  std::string out = "RIFF";
  // Chunks are padded to even sizes; the padding byte counts here and not in the chunk.
  append_little(out, data_bytes ? head + data + data % 2 : kUnknownSize, 4);
  out += "WAVEfmt ";
  append_little(out, format_size, 4);
  append_little(out, is_float ? kFloatTag : kPcmTag, 2);
  append_little(out, static_cast<uint32_t>(channels), 2);
  append_little(out, static_cast<uint32_t>(rate), 4);
  append_little(out, static_cast<uint32_t>(rate) * frame_bytes, 4);
  append_little(out, frame_bytes, 2);
  append_little(out, bits, 2);
  if (is_float) {
    append_little(out, 0, 2);
    out += "fact";
    append_little(out, 4, 4);
    append_little(out, data_bytes ? data / frame_bytes : kUnknownSize, 4);
  }
  out += "data";
  append_little(out, data, 4);
  return out;
}

void append_wav_samples(AudioFormat format, std::span<const float> samples, std::string& out) {
  const int bits = bits_of(format);
  for (const float sample : samples) {
    const uint32_t value = format == AudioFormat::kWavFloat
                               ? std::bit_cast<uint32_t>(finite_sample(sample))
                               : static_cast<uint32_t>(quantize(sample, bits));
    append_little(out, value, static_cast<size_t>(bits / 8));
  }
}

}  // namespace remora::io
