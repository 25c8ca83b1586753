#include "io/sound_builder.h"

#include <gtest/gtest.h>
#include <sndfile.h>

#include <cmath>
#include <numbers>

#include "io/archive_builder.h"
#include "io/audio_file.h"
#include "io/memory_source.h"
#include "io/temp_dir.h"

namespace remora::test {

std::vector<float> tone(int32_t rate, double seconds, int32_t channels) {
  std::vector<float> out;
  for (int i = 0; i < static_cast<int>(rate * seconds); ++i) {
    for (int c = 0; c < channels; ++c) {
      out.push_back(static_cast<float>(0.5 * std::sin(2 * std::numbers::pi * 440 * i / rate)));
    }
  }
  return out;
}

std::string made_by_libsndfile(int format, const std::vector<float>& samples, int32_t channels,
                               int32_t rate) {
  const TempDir dir;
  SF_INFO info{};
  info.format = format;
  info.channels = channels;
  info.samplerate = rate;
  if (sf_format_check(&info) == 0) return "";
  SNDFILE* file = sf_open(dir.path("f").c_str(), SFM_WRITE, &info);
  if (file == nullptr) return "";
  sf_write_float(file, samples.data(), static_cast<sf_count_t>(samples.size()));
  sf_close(file);
  return read_file(dir.path("f"));
}

std::string wav(const WavParts& parts) {
  const uint16_t frame = static_cast<uint16_t>(parts.channels * parts.bits / 8);
  std::string body = "WAVEfmt " + little(16, 4) + little(parts.tag, 2) + little(parts.channels, 2) +
                     little(parts.rate, 4) + little(parts.rate * frame, 4) + little(frame, 2) +
                     little(parts.bits, 2) + parts.before_data + "data";
  body += little(parts.data_size != UINT64_MAX ? parts.data_size : parts.data.size(), 4);
  body += parts.data + parts.after_data;
  return "RIFF" + little(parts.riff_size != UINT64_MAX ? parts.riff_size : body.size(), 4) + body;
}

std::string two_seconds() {
  std::string out;
  for (int i = 0; i < 32000; ++i) out += little(static_cast<uint64_t>(i * 37), 2);
  return out;
}

std::vector<float> read_sound(std::shared_ptr<const io::ByteSource> source) {
  io::AudioReader reader(std::move(source));
  std::vector<float> out;
  for (auto block = reader.read(); !block.empty(); block = reader.read()) {
    out.insert(out.end(), block.begin(), block.end());
  }
  EXPECT_EQ(out.size(), reader.frames_read() * static_cast<size_t>(reader.info().channels));
  return out;
}

std::vector<float> read_sound(std::string_view bytes) {
  return read_sound(memory_source("f.wav", bytes));
}

}  // namespace remora::test
