// What one way of the matrix gave, and how far it is from another's.
#pragma once

#include <remora/remora.h>

#include <cstdint>
#include <vector>

#include "bench/timing.h"
#include "report.h"

namespace remora::cli {

struct Outcome {
  Samples step_ms;
  double first_step_ms = 0;
  uint64_t peak_bytes = 0;
  uint64_t device_bytes = 0;  // in use on a GPU, by everybody; 0 on the CPU
  uint64_t kv_bytes = 0;
  remora_sdpa_policy sdpa_ran = REMORA_SDPA_AUTO;
  std::vector<int32_t> codes;              // frame by frame
  std::vector<std::vector<float>> logits;  // of each frame: what its first code was drawn from
};

bool all_finite(const std::vector<std::vector<float>>& logits);

// Sets "max_logit_diff", "argmax_agree" and "first_diverging_frame" of a row whose baseline is
// given. Frames count as long as both had the same codes before them: behind a frame that differs
// the two speak of different histories.
void compare(const Outcome& outcome, const Outcome& baseline, size_t n_codes, Json& row);

}  // namespace remora::cli
