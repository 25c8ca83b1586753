// The JSON configuration files of a made-up checkpoint, as the released models write theirs.
#pragma once

#include <string>

#include "synthetic/shape.h"
#include "synthetic/vocabulary.h"

namespace remora::cli {

// config.json: nested for S2-Pro, flat for S1-mini.
std::string lm_config_json(const LmShape& shape, const Vocabulary& vocabulary);

// codec.json.
std::string codec_config_json(const CodecShape& shape);

}  // namespace remora::cli
