// How a frame is drawn from the models' logits.
#pragma once

#include <cstdint>

#include "lm/config.h"

namespace remora::lm {

struct SamplingParams {
  float temperature = 0.7F;         // 0 .. 2; 0 is greedy
  float top_p = 0.7F;               // above 0, at most 1
  int32_t top_k = 30;               // at least 1; 1 is greedy. The S1 family has no other limit
  float repetition_penalty = 1.0F;  // S1 family: 0.5 .. 2, 1 is off; S2 family: 1
  int32_t ras_window = 10;          // S2 family: recent main tokens that may not repeat; 0 is off
  bool greedy = false;              // the most likely entry each time, no random draw

  bool is_greedy() const { return greedy || temperature == 0.0F || top_k == 1; }
};

// Throws Error{kInvalidArgument} naming the field, its value and its range.
void validate(const SamplingParams& params, Family family);

}  // namespace remora::lm
