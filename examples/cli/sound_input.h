// Sound files in.
#pragma once

#include <remora/remora.h>

#include <cstdint>
#include <string>
#include <vector>

#include "model_loading.h"
#include "npy.h"

namespace remora::cli {

struct Sound {
  std::vector<float> interleaved;
  int32_t channels = 0;
  int32_t sample_rate = 0;  // Hz

  size_t frames() const { return interleaved.size() / static_cast<size_t>(channels); }
  double seconds() const { return static_cast<double>(frames()) / sample_rate; }
};

// Any kind that the library reads; the content decides, not the name.
Sound read_sound(const std::string& path);

// Codes [codebooks, frames] of a sound at any rate, with any number of channels.
IntMatrix encode_sound(const LoadedModel& model, const Sound& sound);

}  // namespace remora::cli
