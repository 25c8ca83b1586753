// What the capacity costs: two sessions of the default mode, alike but for their capacity, stepped
// in turn, so that whatever else the machine does meets both.
#pragma once

#include "bench/matrix.h"

namespace remora::cli {

// One object for each prompt length that has two capacities to compare: {"kv", "sdpa_ran",
// "prompt", "capacities": [smallest, largest], "ratio": {"median","q1","q3"}, "rounds"}. A sample
// is the step time at the largest capacity over that at the smallest within one round; the
// quartiles say how well the median is known on this machine.
Json measure_capacity_cost(const LoadedModel& model, const MatrixOptions& options);

}  // namespace remora::cli
