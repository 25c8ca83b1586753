// `encode` and `roundtrip`: sound to codes, and back again.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <memory>

#include "audio_output.h"
#include "commands.h"
#include "failure.h"
#include "files.h"
#include "model_loading.h"
#include "report.h"
#include "sound_input.h"
#include "speech.h"
#include "terminal.h"

namespace remora::cli {
namespace {

struct EncodeOptions {
  ModelOptions model;
  std::string input;
  std::string codes;
  AudioOptions audio;  // of roundtrip
  bool json = false;
};

LoadedModel load_encoder(const EncodeOptions& options) {
  LoadedModel model = load_model(options.model, REMORA_MODEL_NO_LM, true);
  if (model.info.has_encoder == 0) {
    throw Failure(kError, model.name + ": has no codec that encodes; add --codec DIR");
  }
  return model;
}

Json input_json(const Sound& sound, const IntMatrix& codes) {
  return {{"input_rate", sound.sample_rate}, {"input_channels", sound.channels},
          {"input_frames", sound.frames()},  {"input_s", rounded(sound.seconds())},
          {"codebooks", codes.rows},         {"frames", codes.columns}};
}

int run_encode(const EncodeOptions& options) {
  if (options.codes.empty() && !options.json) {
    throw Failure(kUsage, "nothing to write: give -o FILE or --json");
  }
  if (!options.codes.empty()) check_writable_place(options.codes);
  const Sound sound = read_sound(options.input);
  const LoadedModel model = load_encoder(options);
  const auto start = std::chrono::steady_clock::now();
  const IntMatrix codes = encode_sound(model, sound);
  const double elapsed = milliseconds_since(start);
  if (!options.codes.empty()) write_npy(options.codes, codes);
  if (options.json) {
    Json json = input_json(sound, codes);
    json["encode_ms"] = rounded(elapsed);
    json["realtime_factor"] = rounded(elapsed / 1e3 / sound.seconds(), 4);
    json["peak_rss_bytes"] = peak_rss_bytes();
    print_json(json);
  } else {
    note(options.codes + ": " + std::to_string(codes.columns) + " frames of " +
         std::to_string(codes.rows) + " codes from " + fixed(sound.seconds(), 2) +
         " s of sound, in " + fixed(elapsed / 1e3, 2) + " s");
  }
  return kDone;
}

int run_roundtrip(const EncodeOptions& options) {
  check_audio_options(options.audio, options.json);
  if (!options.audio.wanted() && !options.json) {
    throw Failure(kUsage, "nothing to write: give -o FILE (or - for stdout) or --json");
  }
  const Sound sound = read_sound(options.input);
  const LoadedModel model = load_encoder(options);
  const auto output = open_audio_output(options.audio, model.info.sample_rate);
  const auto start = std::chrono::steady_clock::now();
  const IntMatrix codes = encode_sound(model, sound);
  const double encode_ms = milliseconds_since(start);
  decode_whole(model, codes, *output);
  const double elapsed = milliseconds_since(start);
  output->finish();
  if (options.json) {
    Json json = input_json(sound, codes);
    json["samples"] = output->samples();
    json["sample_rate"] = model.info.sample_rate;
    json["encode_ms"] = rounded(encode_ms);
    json["decode_ms"] = rounded(elapsed - encode_ms);
    json["realtime_factor"] = rounded(elapsed / 1e3 / sound.seconds(), 4);
    json["peak_rss_bytes"] = peak_rss_bytes();
    print_json(json);
  } else {
    note(fixed(sound.seconds(), 2) + " s of sound there and back in " + fixed(elapsed / 1e3, 2) +
         " s, " + std::to_string(codes.columns) + " frames");
  }
  return kDone;
}

void add_common(CLI::App& command, EncodeOptions& options) {
  command.add_option("IN", options.input, "Sound file: WAV, FLAC, OGG, MP3, AIFF, ...")
      ->required()
      ->type_name("");
  command.add_flag("--json", options.json, "Report as one JSON object on stdout");
  add_model_options(command, options.model);
}

}  // namespace

void add_encode(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("encode", "Turn sound into codes");
  const auto options = std::make_shared<EncodeOptions>();
  command->add_option("-o,--output", options->codes, "Codes [codebooks, frames] as .npy")
      ->type_name("F.npy");
  add_common(*command, *options);
  command->callback([options, &context] { context.exit_code = run_encode(*options); });
}

void add_roundtrip(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("roundtrip", "Turn sound into codes and back into sound");
  const auto options = std::make_shared<EncodeOptions>();
  add_audio_options(*command, options->audio);
  add_common(*command, *options);
  command->callback([options, &context] { context.exit_code = run_roundtrip(*options); });
}

}  // namespace remora::cli
