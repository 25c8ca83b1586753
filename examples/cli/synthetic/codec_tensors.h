// Every tensor of a codec of the released kind, by rule from its sizes.
#pragma once

#include <vector>

#include "synthetic/shape.h"
#include "synthetic/tensor_spec.h"

namespace remora::cli {

// Names as in codec.pth; float32. Scaled so that noise of unit power at the input of a layer leaves
// it with about unit power, and the decoder's output stays well below full scale.
std::vector<TensorSpec> codec_tensors(const CodecShape& shape);

}  // namespace remora::cli
