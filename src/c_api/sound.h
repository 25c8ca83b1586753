// Sound arguments of the ABI.
#pragma once

#include "c_api/buffers.h"
#include "c_api/enums.h"
#include "engine/sound.h"

namespace remora::c_api {

inline engine::Sound sound_from(const float* interleaved, size_t n_frames, int32_t channels,
                                int32_t rate) {
  check_enum(channels, 1, 64, "channels");
  const size_t count = checked_count(n_frames, static_cast<size_t>(channels), "n_frames");
  if (count > 0) required(interleaved, "interleaved");
  return {{interleaved, count}, channels, rate};
}

}  // namespace remora::c_api
