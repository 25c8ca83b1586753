// From options to a loaded model.
#pragma once

#include <remora/remora.h>

#include <memory>
#include <string>

#include "handles.h"
#include "options.h"
#include "synthetic/checkpoint.h"

namespace remora::cli {

struct LoadedModel {
  std::unique_ptr<SyntheticCheckpoint> backing;  // files made in memory; must outlive `model`
  ModelPtr model;
  remora_model_info info = {};
  std::string name;  // as reports call it: the folder, or "random s1-mini"
  double load_ms = 0;
};

// `flags`: REMORA_MODEL_*. With only --codec and `codec_is_enough`, no language model is loaded.
// Sets the thread count and the log, too. Throws Failure; kInterrupted when Ctrl-C came meanwhile.
LoadedModel load_model(const ModelOptions& options, uint32_t flags, bool codec_is_enough = false);

// LibTorch's threads for a loaded model of so many bytes; 0: leave them as they are. Without a word
// from the command line or OpenMP's environment (`environment`, or null) a small model gets one:
// its threads would wait for each other longer than they work, many times so beside other busy
// programs.
int32_t threads_for(const ModelOptions& options, uint64_t bytes, const char* environment);

// What load_model() would load, and what it would take.
struct Estimate {
  std::string name;
  remora_memory memory = {};
};
Estimate estimate_model(const ModelOptions& options, uint32_t flags, bool codec_is_enough = false);

}  // namespace remora::cli
