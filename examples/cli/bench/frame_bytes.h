// What one frame must read at least.
#pragma once

#include <cstdint>
#include <string>

#include "model_loading.h"
#include "synthetic/shape.h"

namespace remora::cli {

// Weights that one frame multiplies with: the slow model once, the fast model once for each
// codebook, heads cut to the rows that can be sampled: of the fast one as many as the codec's
// residual tables have entries. 0 when the sizes are unknown.
struct FrameWeights {
  int64_t slow = 0;
  int64_t fast = 0;
};
FrameWeights weights_per_frame(const LmShape& shape, int64_t residual_entries);

// Bytes of weights and of KV cache that pass through the processor for one frame at `prefix`
// columns; 0 when the checkpoint's sizes are not known.
uint64_t bytes_per_frame(const LoadedModel& model, const ModelOptions& options, int64_t prefix);

// The sizes in a config.json of either family; unset ones are 0. Throws nothing: what cannot be
// read counts as unknown.
LmShape shape_from_config(const std::string& json_text);

// Entries of a residual table by a codec.json, the released codec's where it does not say.
int64_t residual_entries_from_config(const std::string& json_text);

}  // namespace remora::cli
