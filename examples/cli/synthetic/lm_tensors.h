// Every tensor of the language model, by rule from its sizes.
#pragma once

#include <vector>

#include "synthetic/shape.h"
#include "synthetic/tensor_spec.h"
#include "synthetic/vocabulary.h"

namespace remora::cli {

// Names as in the released files of the family; bfloat16. Every layer keeps the power of what goes
// through it; logits spread by about kLogitDeviation, so that sampling has real choices.
std::vector<TensorSpec> lm_tensors(const LmShape& shape);

inline constexpr double kLogitDeviation = 1.5;

}  // namespace remora::cli
