// The speakers of a prompt, from sound, saved voices and codes.
#pragma once

#include <remora/remora.h>

#include <string>
#include <vector>

#include "handles.h"
#include "model_loading.h"
#include "options.h"

namespace remora::cli {

// True when a speaker comes as sound, so that the codec's encoder is needed.
bool needs_encoder(const PromptOptions& options);

// In the order given. Throws Failure(kUsage) when transcripts and voices do not pair up. Saved
// voices and codes need the model's configuration only.
std::vector<VoicePtr> load_voices(const LoadedModel& model, const PromptOptions& options);

// A voice from a sound file.
VoicePtr open_sound_voice(const LoadedModel& model, const std::string& path,
                          const std::string& transcript);

// The prompt for the library; `text`, `voices` and `pointers` must outlive it.
remora_prompt make_prompt(const PromptOptions& options, const std::string& text,
                          const std::vector<VoicePtr>& voices,
                          std::vector<const remora_voice*>& pointers);

}  // namespace remora::cli
