#include "options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <charconv>
#include <map>

#include "failure.h"
#include "files.h"

namespace remora::cli {
namespace {

constexpr uint64_t kMaxTextBytes = 64 << 20;

using Names = std::map<std::string, int32_t>;

const Names kDtypes = {{"auto", REMORA_DTYPE_AUTO},
                       {"f32", REMORA_DTYPE_F32},
                       {"bf16", REMORA_DTYPE_BF16},
                       {"f16", REMORA_DTYPE_F16}};
const Names kWeights = {{"dtype", REMORA_WEIGHTS_AS_DTYPE},
                        {"int8", REMORA_WEIGHTS_INT8},
                        {"int4", REMORA_WEIGHTS_INT4}};
const Names kKvModes = {
    {"active", REMORA_KV_ACTIVE_PREFIX}, {"full", REMORA_KV_FULL}, {"graph", REMORA_KV_GRAPH}};
const Names kSdpaPolicies = {{"auto", REMORA_SDPA_AUTO},
                             {"math", REMORA_SDPA_MATH},
                             {"flash", REMORA_SDPA_FLASH},
                             {"efficient", REMORA_SDPA_EFFICIENT},
                             {"cudnn", REMORA_SDPA_CUDNN}};

// An option that takes one of the names.
void add_choice(CLI::App& command, const std::string& flag, int32_t& value, const Names& names,
                const std::string& help) {
  std::string list;
  for (const auto& [name, number] : names) list += (list.empty() ? "" : "|") + name;
  command
      .add_option_function<std::string>(
          flag, [&value, names](const std::string& name) { value = names.at(name); }, help)
      ->check(CLI::IsMember(names).description(""))
      ->type_name(list);
}

// CLI11 hands a repeated option over at the end; this one is told at once, in the order typed.
void add_in_order(CLI::App& command, const std::string& flag,
                  std::function<void(const std::string&)> on_value, const std::string& type,
                  const std::string& help) {
  command.add_option_function<std::string>(flag, std::move(on_value), help)
      ->trigger_on_parse()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)
      ->type_name(type);
}

uint64_t parse_seed(const std::string& text) {
  if (text == "random") return REMORA_SEED_RANDOM;
  uint64_t seed = 0;
  const char* end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, seed);
  if (result.ec != std::errc() || result.ptr != end || seed == REMORA_SEED_RANDOM) {
    throw Failure(kUsage, "--seed: '" + text +
                              "' is neither a number from 0 to 18446744073709551614 nor 'random'");
  }
  return seed;
}

}  // namespace

CLI::Option* add_random_option(CLI::App& command, ModelOptions& options) {
  return command
      .add_option("--random", options.random,
                  "Random weights of a released model's size, made in memory: to measure speed")
      ->type_name("s1-mini|s2-pro|s2-pro-attn[:LAYERS]");
}

void add_weights_options(CLI::App& command, ModelOptions& options,
                         const std::vector<std::string>& kinds) {
  Names names;
  for (const std::string& kind : kinds) names[kind] = kWeights.at(kind);
  add_choice(command, "--weights", options.weights, names, "Storage of the large weights");
  command
      .add_option("--group", options.int4_group,
                  "Columns that share a scale in int4 weights (default: 64)")
      ->check(CLI::IsMember({32, 64}).description(""))
      ->type_name("32|64");
}

void add_process_options(CLI::App& command, ModelOptions& options) {
  command
      .add_option("--threads", options.threads,
                  "LibTorch threads (default: its own choice, one for small models)")
      ->check(CLI::Range(1, 1024).description(""))
      ->type_name("N");
  command.add_flag("--verbose", options.verbose, "Show the library's log on stderr");
}

void add_model_options(CLI::App& command, ModelOptions& options) {
  auto* model = command.add_option("--model", options.model,
                                   "Checkpoint folder (default: $REMORA_MODEL, else the voice that "
                                   "ships)");
  model->type_name("DIR");
  command
      .add_option("--codec", options.codec,
                  "Take the codec from this folder (codec.safetensors or codec.pth, codec.json)")
      ->type_name("DIR");
  add_random_option(command, options)->excludes(model);
  command.add_option("--device", options.device, "Where to compute")
      ->type_name("auto|cpu|cuda[:N]|mps");
  add_choice(command, "--dtype", options.dtype, kDtypes, "Precision of the language model");
  add_weights_options(command, options, {"dtype", "int8", "int4"});
  add_choice(command, "--codec-dtype", options.codec_dtype, kDtypes, "Precision of the codec");
  add_process_options(command, options);
}

void add_sampling_options(CLI::App& command, SamplingOptions& options) {
  auto* greedy = command.add_flag("--greedy", options.greedy,
                                  "Always the most likely code, no repetition penalty");
  command.add_option("--seed", options.seed, "Seed of the random choices (default: fixed)")
      ->type_name("N|random");
  command.add_option("--temperature", options.temperature, "0 (greedy) to 10")->excludes(greedy);
  command.add_option("--top-p", options.top_p, "Choose among the likeliest of this total, 0 to 1");
  command.add_option("--top-k", options.top_k, "Choose among the N likeliest")->type_name("N");
  command
      .add_option("--repetition-penalty", options.repetition_penalty,
                  "0.5 to 2, 1 = off (S1-mini only)")
      ->excludes(greedy);
  command
      .add_option(
          "--max-frames", options.max_frames,
          "At most N frames for each piece of text; 0 = until the context is full. Replaces "
          "the bound tied to the text's length")
      ->type_name("N");
  command
      .add_option("--max-frames-per-byte", options.max_frames_per_byte,
                  "Bound tied to the text: 64 + X frames for each byte; 0 = off")
      ->type_name("X");
}

remora_sampling SamplingOptions::to_library() const {
  remora_sampling sampling;
  check(remora_sampling_init(&sampling, sizeof sampling));
  if (temperature) sampling.temperature = *temperature;
  if (top_p) sampling.top_p = *top_p;
  if (top_k) sampling.top_k = *top_k;
  if (repetition_penalty) sampling.repetition_penalty = *repetition_penalty;
  if (greedy) {
    sampling.temperature = 0;
    sampling.repetition_penalty = 1;
  }
  if (max_frames) {
    sampling.max_frames = *max_frames;
    sampling.max_frames_per_byte = 0;
  }
  if (max_frames_per_byte) sampling.max_frames_per_byte = *max_frames_per_byte;
  if (!seed.empty()) sampling.seed = parse_seed(seed);
  return sampling;
}

void add_session_options(CLI::App& command, SessionOptions& options) {
  command
      .add_option("--capacity", options.capacity,
                  "KV cache positions (default 0: as many as the request needs)")
      ->type_name("N");
  add_choice(command, "--kv", options.kv, kKvModes, "How the KV cache is kept");
  add_choice(command, "--sdpa", options.sdpa, kSdpaPolicies, "Attention kernel");
}

remora_session_params SessionOptions::to_library() const {
  remora_session_params params;
  check(remora_session_params_init(&params, sizeof params));
  params.capacity = capacity;
  params.kv_mode = kv;
  params.sdpa = sdpa;
  return params;
}

void add_text_options(CLI::App& command, TextOptions& options) {
  auto* text = command.add_option("TEXT", options.text, "What to say; - reads standard input");
  text->type_name("");
  command.add_option("--text-file", options.file, "Take the text from a file")
      ->type_name("FILE")
      ->excludes(text);
}

std::string TextOptions::read() const {
  if (!file.empty()) return read_file(file, kMaxTextBytes);
  if (!text) {
    throw Failure(kUsage, "no text: give it as an argument, with --text-file, or as - for stdin");
  }
  return *text == "-" ? read_stdin(kMaxTextBytes) : *text;
}

std::string TextOptions::read_speech() const {
  std::string speech = read();
  const bool typed = file.empty() && *text != "-";
  if (!typed && speech.ends_with('\n')) {
    speech.pop_back();
    if (speech.ends_with('\r')) speech.pop_back();
  }
  return speech;
}

void add_prompt_options(CLI::App& command, PromptOptions& options) {
  add_text_options(command, options.text);
  add_in_order(
      command, "--voice",
      [&options](const std::string& path) {
        options.voices.push_back({VoiceOption::Kind::kFile, path});
      },
      "FILE", "A speaker: a recording (needs --transcript) or a saved .voice; repeatable");
  add_in_order(
      command, "--voice-codes",
      [&options](const std::string& path) {
        options.voices.push_back({VoiceOption::Kind::kCodes, path});
      },
      "F.npy", "A speaker as codes [codebooks, frames]; needs --transcript; repeatable");
  add_in_order(
      command, "--transcript",
      [&options](const std::string& text) { options.transcripts.push_back(text); }, "TEXT",
      "The words of a recording or codes, in the order of these; repeatable");
  command.add_flag("--allow-control", options.allow_control,
                   "Control tokens typed in the text act as tokens (default: they are text)");
  command.add_flag("--clean", options.clean, "Collapse white space before speaking");
  command
      .add_option("--split-bytes", options.split_bytes,
                  "Cut long text near this many bytes; 0 = never")
      ->type_name("N|0");
}

}  // namespace remora::cli
