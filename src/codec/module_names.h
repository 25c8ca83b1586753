// Names of modules that both halves of the codec read.
#pragma once

#include <cstdint>
#include <string>

#include "base/concat.h"

namespace remora::codec {

inline constexpr const char* kSemanticCodebook = "quantizer.semantic_quantizer.quantizers.0";

inline std::string residual_codebook(int64_t index) {
  return concat("quantizer.quantizer.quantizers.", index);
}

}  // namespace remora::codec
