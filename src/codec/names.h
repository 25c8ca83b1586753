// Tensor names of a codec checkpoint, whatever it is wrapped in.
#pragma once

#include "io/state_dict.h"

namespace remora::codec {

// Plain names ("decoder.model.0.conv.bias") out of the forms in use, applied in this order:
//  - a training checkpoint keeps the weights under the key `state_dict`: only those count;
//  - if any name contains "generator", only names with "generator." count, without that text;
//  - a leading "module." (left by parallel training) is cut.
// Buffers that released files carry but no codec reads (rotary tables and masks, both stale) are
// dropped.
io::StateDict plain_names(const io::StateDict& dict);

}  // namespace remora::codec
