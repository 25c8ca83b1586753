// Sound as it comes from a host or a file, turned into codes and voices.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/cancel.h"
#include "engine/model.h"
#include "engine/voice.h"

namespace remora::engine {

// Interleaved samples as a host holds them.
struct Sound {
  std::span<const float> interleaved;
  int32_t channels = 1;
  int32_t rate = 0;  // Hz
};

// Codes [n_codebooks, frames] int32 of a sound of any length, quiet or not. A model whose frames
// have fewer codes than the codec has codebooks gets the first rows. Throws Error{kUnsupported}
// without an encoder, Error{kInvalidArgument} for no samples or a rate that is not converted.
at::Tensor encode(const Model& model, const Sound& sound, const CancelFlag* cancel = nullptr);

// The number of codes that encode() gives for `frames` samples a channel at `rate`.
size_t encoded_size(const Model& model, size_t frames, int32_t rate);

// Voices from sound: at least 0.2 s and not silent; a warning in the log above 90 s.
std::shared_ptr<const Voice> voice_from_sound(const Model& model, const Sound& sound,
                                              std::string_view transcript,
                                              const CancelFlag* cancel = nullptr);
std::shared_ptr<const Voice> voice_from_file(const Model& model, const std::string& utf8_path,
                                             std::string_view transcript,
                                             const CancelFlag* cancel = nullptr);

}  // namespace remora::engine
