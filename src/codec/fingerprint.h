// Tells codecs apart by what their codes mean.
#pragma once

#include <cstdint>

#include "codec/config.h"
#include "codec/weights.h"

namespace remora::codec {

// A hash of all code tables as stored, in the quantiser's order: the same at every precision, on
// every device and for either half of a codec. Half a millisecond for the released sizes. Never 0.
// Call it behind weights.finish(): every table must be there.
uint64_t table_fingerprint(Weights& weights, const CodecConfig& config);

}  // namespace remora::codec
