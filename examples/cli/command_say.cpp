#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "audio_output.h"
#include "commands.h"
#include "failure.h"
#include "files.h"
#include "model_loading.h"
#include "report.h"
#include "speech.h"
#include "terminal.h"
#include "voices.h"

namespace remora::cli {
namespace {

// Where sound goes when nothing is said about it, so that a first try leaves something to hear.
constexpr const char* kDefaultOutput = "remora.wav";

struct SayOptions {
  ModelOptions model;
  PromptOptions prompt;
  SamplingOptions sampling;
  SessionOptions session;
  AudioOptions audio;
  std::string codes_out;
  bool stream = false;
  bool json = false;

  // A report alone measures the sound, too.
  bool wants_sound() const { return audio.wanted() || codes_out.empty(); }
};

void check_options(const SayOptions& options) {
  check_audio_options(options.audio, options.json);
  if (!options.codes_out.empty()) check_writable_place(options.codes_out);
  options.sampling.to_library();  // throws for a seed that is none
}

LoadedModel load_for_speech(const SayOptions& options) {
  uint32_t flags = 0;
  if (!needs_encoder(options.prompt)) {
    flags = options.wants_sound() ? REMORA_MODEL_NO_ENCODER : REMORA_MODEL_NO_CODEC;
  }
  LoadedModel model = load_model(options.model, flags);
  if (options.audio.wanted() && model.info.has_codec == 0) {
    throw Failure(kError, model.name +
                              ": has no codec, so there is no sound; add --codec DIR, or "
                              "write the codes with --codes-out");
  }
  return model;
}

// Seconds of sound that the frames make; 0 without a codec.
double duration(const LoadedModel& model, uint64_t frames) {
  if (model.info.sample_rate == 0) return 0;
  return static_cast<double>(frames) * model.info.samples_per_frame / model.info.sample_rate;
}

Json segments_json(const SpeechResult& result) {
  Json list = Json::array();
  for (const Segment& segment : result.segments) {
    Json entry = {{"frames", segment.frames}, {"finish", finish_word(segment.finish)}};
    if (!segment.text.empty()) entry["text"] = segment.text;
    list.push_back(std::move(entry));
  }
  return list;
}

Json report_json(const SayOptions& options, const LoadedModel& model, const SpeechResult& result) {
  const remora_stats& stats = result.stats;
  const double seconds = duration(model, stats.frames);
  Json json = {{"finish", finish_word(stats.finish)},
               {"seed", stats.seed},
               {"prompt_tokens", stats.prompt_tokens},
               {"reused_tokens", stats.reused_tokens},
               {"frames", stats.frames},
               {"samples", result.samples},
               {"sample_rate", model.info.sample_rate},
               {"duration_s", rounded(seconds)},
               {"text_bytes_done", stats.text_done},
               {"kv_mode", kv_word(stats.kv_mode)},
               {"kv_len", stats.kv_len},
               {"kv_capacity", stats.kv_capacity},
               {"kv_bytes", stats.kv_bytes},
               {"graph_captures", stats.graph_captures},
               {"sdpa_prefill", sdpa_word(stats.sdpa_prefill)},
               {"sdpa_step", sdpa_word(stats.sdpa_step)},
               {"load_ms", rounded(model.load_ms)},
               {"prefill_ms", rounded(static_cast<double>(stats.prefill_ns) / 1e6)},
               {"first_audio_ms", nullptr},
               {"total_ms", rounded(result.total_ms)},
               {"frames_per_second", nullptr},
               {"realtime_factor", nullptr},
               {"peak_rss_bytes", peak_rss_bytes()},
               {"model", model.name},
               {"segments", segments_json(result)}};
  if (result.samples > 0) json["first_audio_ms"] = rounded(result.first_audio_ms);
  if (stats.step_ns > 0) {
    json["frames_per_second"] =
        rounded(static_cast<double>(stats.frames) / (static_cast<double>(stats.step_ns) / 1e9));
  }
  if (seconds > 0) json["realtime_factor"] = rounded(result.total_ms / 1e3 / seconds, 4);
  if (options.audio.wanted()) json["output"] = options.audio.path;
  if (!options.codes_out.empty()) json["codes_out"] = options.codes_out;
  return json;
}

void print_summary(const SayOptions& options, const LoadedModel& model,
                   const SpeechResult& result) {
  const double seconds = duration(model, result.stats.frames);
  std::string line = std::to_string(result.stats.frames) + " frames";
  if (seconds > 0) {
    line += ", " + fixed(seconds, 2) + " s of sound in " + fixed(result.total_ms / 1e3, 2) +
            " s (" + fixed(result.total_ms / 1e3 / seconds, 2) + " x real time)";
  }
  const std::string& place = options.audio.wanted() ? options.audio.path : options.codes_out;
  if (!place.empty() && place != "-") line = place + ": " + line;
  note(line);
}

// The exit code, with a warning on stderr when the text was not spoken to its end.
ExitCode judge(const SpeechResult& result, const std::string& text) {
  const std::string how_far = std::to_string(result.stats.text_done) + " of " +
                              std::to_string(text.size()) + " bytes of the text were finished";
  if (result.interrupted) {
    note("interrupted; " + how_far);
    return kInterrupted;
  }
  if (result.stats.finish == REMORA_FINISH_LENGTH) {
    note("warning: a piece of the text reached its length limit and was cut after " +
         std::to_string(result.stats.frames) +
         " frames in all; raise --max-frames or "
         "--max-frames-per-byte");
    return kLimit;
  }
  if (result.stats.finish == REMORA_FINISH_CAPACITY) {
    note("warning: the context was full before the text ended (" + how_far +
         "); raise --capacity or split the text");
    return kLimit;
  }
  return kDone;
}

int run_say(SayOptions options, Context& context) {
  if (!options.audio.wanted() && options.codes_out.empty() && !options.json) {
    options.audio.path = kDefaultOutput;
  }
  check_options(options);
  const std::string text = options.prompt.text.read_speech();
  const LoadedModel model = load_for_speech(options);
  const std::vector<VoicePtr> voices = load_voices(model, options.prompt);
  std::vector<const remora_voice*> pointers;
  const remora_prompt prompt = make_prompt(options.prompt, text, voices, pointers);

  const bool sound = options.wants_sound() && model.info.has_codec != 0;
  Speech speech(model, options.session, options.sampling, context.interrupt);
  std::unique_ptr<AudioOutput> output;
  if (sound) output = open_audio_output(options.audio, model.info.sample_rate);
  const SpeechResult result = speech.run(prompt, text, options.stream, output.get());

  if (output) output->finish();
  if (!options.codes_out.empty()) write_npy(options.codes_out, result.codes);
  if (options.json) {
    print_json(report_json(options, model, result));
  } else {
    print_summary(options, model, result);
  }
  return judge(result, text);
}

}  // namespace

void add_say(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("say", "Speak a text");
  const auto options = std::make_shared<SayOptions>();
  add_prompt_options(*command, options->prompt);
  add_audio_options(*command, options->audio);
  command->add_option("--codes-out", options->codes_out, "Write the codes [codebooks, frames], too")
      ->type_name("F.npy");
  command->add_flag("--stream", options->stream, "Decode and deliver sound while frames come");
  command->add_flag("--json", options->json, "Report as one JSON object on stdout");
  add_sampling_options(*command, options->sampling);
  add_session_options(*command, options->session);
  add_model_options(*command, options->model);
  command->callback([options, &context] { context.exit_code = run_say(*options, context); });
}

}  // namespace remora::cli
