// Codecs with random weights, of any configuration.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codec/config.h"
#include "io/state_dict.h"

namespace remora::test {

// Every tensor that a codec of `config` reads, scaled so that signals stay near 1 on their way.
// Convolutions are stored already folded when `folded`, else as direction and magnitude.
io::StateDict random_codec(const codec::CodecConfig& config, uint64_t seed, bool folded = true);

// Their names and shapes alone, in the unfolded spelling: nothing is allocated.
std::map<std::string, std::vector<int64_t>> codec_shapes(const codec::CodecConfig& config);

// 16 kHz, four codebooks, frames of 640 samples, other strides and widths than the released codec.
codec::CodecConfig small_config();

}  // namespace remora::test
