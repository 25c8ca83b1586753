// From options to a loaded model.
#pragma once

#include <remora/remora.h>

#include <memory>
#include <string>
#include <vector>

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

// The speakers of a prompt, in order. Throws Failure(kUsage) when transcripts and voices do not
// pair up. `model` needs its configuration only.
std::vector<VoicePtr> load_voices(const LoadedModel& model, const PromptOptions& options);

// The prompt for the library; `text`, `voices` and `pointers` must outlive it.
remora_prompt make_prompt(const PromptOptions& options, const std::string& text,
                          const std::vector<VoicePtr>& voices,
                          std::vector<const remora_voice*>& pointers);

}  // namespace remora::cli
