// How fast a model speaks here, and how close that is to what memory allows.
#pragma once

#include <cstdint>
#include <vector>

#include "model_loading.h"
#include "options.h"
#include "report.h"

namespace remora::cli {

struct SpeedOptions {
  std::vector<int64_t> prefixes = {234, 1000};  // columns before the timed frames
  int repeat = 5;                               // samples of each figure, at least
  int threads = 1;                              // as set
  std::vector<int64_t> sessions = {};           // counts that step together; none: not measured
};

// The report of `bench`, without command and versions.
Json measure_speed(const LoadedModel& model, const ModelOptions& model_options,
                   const SessionOptions& session_options, const SpeedOptions& options);

}  // namespace remora::cli
