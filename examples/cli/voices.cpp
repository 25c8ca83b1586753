#include "voices.h"

#include <algorithm>
#include <filesystem>

#include "failure.h"
#include "files.h"
#include "npy.h"

namespace remora::cli {
namespace {

constexpr uint64_t kMaxVoiceBytes = 64 << 20;  // hours of speech

bool is_saved_voice(const VoiceOption& voice) {
  return voice.kind == VoiceOption::Kind::kFile &&
         std::filesystem::path(voice.path).extension() == ".voice";
}

VoicePtr load_saved_voice(const LoadedModel& model, const std::string& path) {
  const std::string bytes = read_file(path, kMaxVoiceBytes);
  remora_voice* voice = nullptr;
  check_file(path, remora_voice_load(model.model.get(), bytes.data(), bytes.size(), &voice));
  return VoicePtr(voice);
}

VoicePtr load_code_voice(const LoadedModel& model, const std::string& path,
                         const std::string& transcript) {
  const IntMatrix codes = read_npy(path);
  if (codes.rows != model.info.n_codebooks) {
    throw Failure(kError, path + ": has " + std::to_string(codes.rows) + " rows, the model has " +
                              std::to_string(model.info.n_codebooks) +
                              " codebooks; were the codes made with another codec?");
  }
  remora_voice* voice = nullptr;
  check_file(path, remora_voice_from_codes(model.model.get(), codes.values.data(),
                                           static_cast<size_t>(codes.columns), transcript.data(),
                                           transcript.size(), &voice));
  return VoicePtr(voice);
}

void check_pairs(const PromptOptions& options) {
  const auto saved = std::count_if(options.voices.begin(), options.voices.end(), is_saved_voice);
  const size_t expected = options.voices.size() - static_cast<size_t>(saved);
  if (options.transcripts.size() != expected) {
    throw Failure(kUsage, std::to_string(expected) + " voice(s) given as sound or codes, but " +
                              std::to_string(options.transcripts.size()) +
                              " --transcript: each needs the words that are spoken in it");
  }
}

}  // namespace

bool needs_encoder(const PromptOptions& options) {
  return std::any_of(options.voices.begin(), options.voices.end(), [](const VoiceOption& voice) {
    return voice.kind == VoiceOption::Kind::kFile && !is_saved_voice(voice);
  });
}

VoicePtr open_sound_voice(const LoadedModel& model, const std::string& path,
                          const std::string& transcript) {
  if (model.info.has_encoder == 0) {
    throw Failure(kError, model.name + ": has no codec that encodes, which the voice " + path +
                              " needs; add --codec DIR");
  }
  remora_voice* voice = nullptr;
  check(remora_voice_open(model.model.get(), path.c_str(), transcript.data(), transcript.size(),
                          &voice));
  return VoicePtr(voice);
}

std::vector<VoicePtr> load_voices(const LoadedModel& model, const PromptOptions& options) {
  check_pairs(options);
  std::vector<VoicePtr> voices;
  size_t next_transcript = 0;
  for (const VoiceOption& option : options.voices) {
    if (is_saved_voice(option)) {
      voices.push_back(load_saved_voice(model, option.path));
      continue;
    }
    const std::string& transcript = options.transcripts[next_transcript++];
    voices.push_back(option.kind == VoiceOption::Kind::kCodes
                         ? load_code_voice(model, option.path, transcript)
                         : open_sound_voice(model, option.path, transcript));
  }
  return voices;
}

remora_prompt make_prompt(const PromptOptions& options, const std::string& text,
                          const std::vector<VoicePtr>& voices,
                          std::vector<const remora_voice*>& pointers) {
  remora_prompt prompt;
  check(remora_prompt_init(&prompt, sizeof prompt));
  prompt.text = text.data();
  prompt.text_len = text.size();
  for (const VoicePtr& voice : voices) pointers.push_back(voice.get());
  prompt.voices = pointers.data();
  prompt.n_voices = pointers.size();
  if (options.allow_control) prompt.flags |= REMORA_PROMPT_ALLOW_CONTROL;
  if (options.clean) prompt.flags |= REMORA_PROMPT_CLEAN_TEXT;
  if (options.split_bytes) {
    prompt.split_bytes = *options.split_bytes;
    if (*options.split_bytes == 0) prompt.flags |= REMORA_PROMPT_NO_SPLIT;
  }
  return prompt;
}

}  // namespace remora::cli
