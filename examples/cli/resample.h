// Another sample rate, for file formats that do not take the model's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace remora::cli {

// `pcm` at `from` Hz as samples at `to` Hz, the same length in time. Band-limited interpolation by
// a windowed sinc; what lies above half of the lower rate is taken out.
std::vector<float> resample(std::span<const float> pcm, int32_t from, int32_t to);

}  // namespace remora::cli
