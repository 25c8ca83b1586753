// Several sessions over one read of the weights.
#pragma once

#include <cstdint>
#include <vector>

#include "model_loading.h"
#include "options.h"
#include "report.h"

namespace remora::cli {

// remora_sessions_step() for each count of sessions, all behind prompts of `prefix` columns, the
// counts in turn so that a drift of the machine meets all of them: {"1": {"median", "min",
// "max" (ms), "frames_per_second"}, ...}. frames_per_second is that of all sessions in sum.
Json measure_together(const LoadedModel& model, const SessionOptions& session, int64_t prefix,
                      const std::vector<int64_t>& counts, int repeat);

}  // namespace remora::cli
