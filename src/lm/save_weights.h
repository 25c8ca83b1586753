// A quantised model's weights as a file that loads without converting.
#pragma once

#include <functional>
#include <string>

#include "lm/language_model.h"

namespace remora::lm {

// Writes model.safetensors as docs/quantised-format.md describes it. `stop`: see
// io::write_safetensors. Throws Error{kUnsupported} for a model whose weights are not quantised,
// and what write_safetensors throws.
void save_weights(const LanguageModel& model, const std::string& utf8_path,
                  const std::function<bool(float)>& stop);

}  // namespace remora::lm
