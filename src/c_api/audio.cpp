#include <vector>

#include "c_api/buffers.h"
#include "c_api/enums.h"
#include "c_api/guard.h"
#include "c_api/params.h"
#include "io/audio_file.h"

using remora::c_api::guard;
using remora::c_api::required;
namespace capi = remora::c_api;
namespace io = remora::io;

namespace {

io::AudioFormat format_from(remora_audio_format format) {
  capi::check_enum(format, REMORA_AUDIO_WAV_PCM16, REMORA_AUDIO_OGG_OPUS, "format");
  return static_cast<io::AudioFormat>(format);
}

void check_shape(int32_t channels, int32_t rate) {
  capi::check_enum(channels, 1, 64, "channels");
  capi::check_enum(rate, 1, 768000, "rate");
}

}  // namespace

remora_status remora_audio_describe(const char* utf8_path, remora_audio_info* out) {
  return guard([&] {
    io::AudioReader reader(io::open_file(&required(utf8_path, "utf8_path")));
    while (!reader.read().empty()) {
    }
    remora_audio_info info{};
    info.struct_size = sizeof info;
    info.sample_rate = reader.info().sample_rate;
    info.channels = reader.info().channels;
    info.frames = reader.frames_read();
    capi::write_struct(&required(out, "out"), info, out->struct_size, "audio_info");
  });
}

remora_status remora_audio_read(const char* utf8_path, float* interleaved, size_t capacity,
                                size_t* needed) {
  return guard([&] {
    io::AudioReader reader(io::open_file(&required(utf8_path, "utf8_path")));
    // How many samples there are is known at the end only.
    std::vector<float> samples;
    for (auto block = reader.read(); !block.empty(); block = reader.read()) {
      samples.insert(samples.end(), block.begin(), block.end());
    }
    return capi::copy_out<float>(samples, interleaved, capacity, needed, "interleaved");
  });
}

remora_status remora_audio_to_s16(const float* samples, size_t n, int16_t* out) {
  return guard([&] {
    if (n == 0) return;
    required(samples, "samples");
    required(out, "out");
    for (size_t i = 0; i < n; ++i) out[i] = static_cast<int16_t>(io::quantize(samples[i], 16));
  });
}

remora_status remora_audio_stream_header(remora_audio_format format, int32_t channels, int32_t rate,
                                         void* dst, size_t capacity, size_t* needed) {
  return guard([&] {
    check_shape(channels, rate);
    const std::string header = io::wav_header(format_from(format), channels, rate, std::nullopt);
    return capi::copy_out<char>(header, static_cast<char*>(dst), capacity, needed, "dst");
  });
}

remora_status remora_audio_write(const char* utf8_path, const float* interleaved, size_t n_frames,
                                 int32_t channels, int32_t rate, remora_audio_format format) {
  return guard([&] {
    check_shape(channels, rate);
    const size_t count = capi::checked_count(n_frames, static_cast<size_t>(channels), "n_frames");
    if (count > 0) required(interleaved, "interleaved");
    io::write_audio(&required(utf8_path, "utf8_path"), {interleaved, count}, channels, rate,
                    format_from(format), &capi::process_end());
  });
}
