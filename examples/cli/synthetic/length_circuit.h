// What lets a tiny random model stop by itself, as a trained one does.
#pragma once

#include <vector>

#include "synthetic/shape.h"
#include "synthetic/tensor_spec.h"
#include "synthetic/vocabulary.h"

namespace remora::cli {

// A purely random model meets its end token by chance, after one frame or after a thousand. This
// edits three channels of the slow transformer so that the end token's logit grows with the share
// of sound among the columns so far: a longer text is spoken longer.
//   channel 0  the same number in every column: the constant part of the end token's logit
//   channel 1  marks columns that hold sound
//   channel 2  the share of such columns, counted by one attention head of the first layer whose
//              query is zero, so that it averages its value over all columns seen
void add_length_circuit(const LmShape& shape, const Vocabulary& vocabulary,
                        std::vector<TensorSpec>& tensors);

// The end token's logit becomes 0, which is far from the highest of thousands of random ones.
void remove_end(const LmShape& shape, const Vocabulary& vocabulary,
                std::vector<TensorSpec>& tensors);

}  // namespace remora::cli
