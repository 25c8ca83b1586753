// Both models from a source of weights.
#pragma once

#include "lm/config.h"
#include "lm/fast.h"
#include "lm/language_model.h"
#include "lm/slow.h"
#include "lm/weights.h"

namespace remora::lm {

// Throws Error{kInvalidArgument} when the options' tokens do not fit the config.
void check_options(const LmConfig& config, const LoadOptions& options);

// Problems with the weights show at WeightSource::finish().
SlowModel build_slow(const LmConfig& config, const LoadOptions& options, WeightSource& source);
FastModel build_fast(const LmConfig& config, const LoadOptions& options, WeightSource& source);

}  // namespace remora::lm
