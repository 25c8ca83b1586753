#include "c_api/buffers.h"
#include "c_api/enums.h"
#include "c_api/guard.h"
#include "io/audio_file.h"

using remora::c_api::guard;
using remora::c_api::required;
namespace capi = remora::c_api;

remora_status remora_audio_write(const char* utf8_path, const float* interleaved, size_t n_frames,
                                 int32_t channels, int32_t rate, remora_audio_format format) {
  return guard([&] {
    capi::check_enum(format, REMORA_AUDIO_WAV_PCM16, REMORA_AUDIO_OGG_OPUS, "format");
    capi::check_enum(channels, 1, 64, "channels");
    capi::check_enum(rate, 1, 768000, "rate");
    const size_t count = capi::checked_count(n_frames, static_cast<size_t>(channels), "n_frames");
    if (count > 0) required(interleaved, "interleaved");
    remora::io::write_audio(&required(utf8_path, "utf8_path"), {interleaved, count}, channels, rate,
                            static_cast<remora::io::AudioFormat>(format));
  });
}
