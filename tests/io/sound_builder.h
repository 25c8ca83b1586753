// Sound files for tests, right ones and wrong ones.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.h"

namespace remora::test {

// 440 Hz at half of full scale, the same in all channels.
std::vector<float> tone(int32_t rate, double seconds, int32_t channels = 1);

// A file of `format` (an SF_FORMAT_... sum) with these samples, made by libsndfile itself; empty
// where this build cannot write it.
std::string made_by_libsndfile(int format, const std::vector<float>& samples, int32_t channels,
                               int32_t rate);

// A PCM WAV file by hand, so that each of its sizes can lie.
struct WavParts {
  std::string data = {};
  uint64_t riff_size = UINT64_MAX;  // UINT64_MAX: the true one
  uint64_t data_size = UINT64_MAX;
  std::string before_data = {};
  std::string after_data = {};
  uint16_t tag = 1, channels = 1, bits = 16;
  uint32_t rate = 16000;
};

std::string wav(const WavParts& parts);

// 2 s of 16-bit samples at 16 kHz: the data of a WAV file.
std::string two_seconds();

// All samples of a sound file, interleaved.
std::vector<float> read_sound(std::shared_ptr<const io::ByteSource> source);
// The same of bytes, under the name "f.wav".
std::vector<float> read_sound(std::string_view bytes);

}  // namespace remora::test
