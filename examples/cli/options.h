// Options that several commands share, and what they mean to the library.
#pragma once

#include <remora/remora.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace remora::cli {

// Where the model comes from and how it computes.
struct ModelOptions {
  std::string model;   // folder; "": see find_origin()
  std::string codec;   // folder
  std::string random;  // name of a released shape; "": no made-up weights
  std::string device = "auto";
  remora_dtype dtype = REMORA_DTYPE_AUTO;
  remora_weights weights = REMORA_WEIGHTS_AS_DTYPE;
  int32_t int4_group = 0;  // 0: the library's choice
  remora_dtype codec_dtype = REMORA_DTYPE_AUTO;
  int32_t threads = 0;  // 0: as LibTorch chooses
  bool verbose = false;
};

// Defaults that are unset here stay the library's.
struct SamplingOptions {
  bool greedy = false;
  std::optional<float> temperature;
  std::optional<float> top_p;
  std::optional<int32_t> top_k;
  std::optional<float> repetition_penalty;
  std::optional<int32_t> max_frames;
  std::optional<float> max_frames_per_byte;
  std::string seed;  // a number, "random", or "" for the default

  remora_sampling to_library() const;
};

struct SessionOptions {
  int32_t capacity = 0;
  remora_kv_mode kv = REMORA_KV_ACTIVE_PREFIX;
  remora_sdpa_policy sdpa = REMORA_SDPA_AUTO;

  remora_session_params to_library() const;
};

// Text from the command line, a file or standard input.
struct TextOptions {
  std::optional<std::string> text;  // "-": standard input
  std::string file;

  // As it came, to the byte. Throws Failure(kUsage) when there is none, or two of them.
  std::string read() const;
  // Without the line break that ends a file or what `echo` writes: it is not part of the speech.
  std::string read_speech() const;
};

// One speaker of the prompt, in the order given.
struct VoiceOption {
  enum class Kind { kFile, kCodes } kind = Kind::kCodes;
  std::string path;
};

struct PromptOptions {
  TextOptions text;
  std::vector<VoiceOption> voices;
  std::vector<std::string> transcripts;  // in the order of the voices that need one
  bool allow_control = false;
  bool clean = false;
  std::optional<uint64_t> split_bytes;  // 0: never split
};

void add_model_options(CLI::App& command, ModelOptions& options);
// The parts of these, for commands that take a model otherwise.
CLI::Option* add_random_option(CLI::App& command, ModelOptions& options);
void add_weights_options(CLI::App& command, ModelOptions& options,
                         const std::vector<std::string>& kinds);
void add_process_options(CLI::App& command, ModelOptions& options);
void add_sampling_options(CLI::App& command, SamplingOptions& options);
void add_session_options(CLI::App& command, SessionOptions& options);
void add_text_options(CLI::App& command, TextOptions& options);
void add_prompt_options(CLI::App& command, PromptOptions& options);

}  // namespace remora::cli
