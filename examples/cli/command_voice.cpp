#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "commands.h"
#include "failure.h"
#include "files.h"
#include "model_loading.h"
#include "report.h"
#include "terminal.h"
#include "voices.h"

namespace remora::cli {
namespace {

struct VoiceCommandOptions {
  ModelOptions model;
  std::string input;
  std::string transcript;
  std::string output;
  bool json = false;
};

int run_voice(const VoiceCommandOptions& options) {
  check_writable_place(options.output);
  const LoadedModel model = load_model(options.model, 0);
  const VoicePtr voice = open_sound_voice(model, options.input, options.transcript);
  size_t needed = 0;
  check(remora_voice_save(voice.get(), nullptr, 0, &needed));
  std::string bytes(needed, '\0');
  check(remora_voice_save(voice.get(), bytes.data(), bytes.size(), &needed));
  write_file(options.output, bytes);
  if (options.json) {
    print_json({{"output", options.output}, {"bytes", bytes.size()}, {"model", model.name}});
  } else {
    note(options.output + ": a voice of " + std::to_string(bytes.size()) + " bytes");
  }
  return kDone;
}

}  // namespace

void add_voice(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("voice", "Save the voice of a recording for say --voice");
  const auto options = std::make_shared<VoiceCommandOptions>();
  command->add_option("IN", options->input, "Sound file, best 5 to 30 seconds of one speaker")
      ->required()
      ->type_name("");
  command->add_option("--transcript", options->transcript, "The words that are spoken in it")
      ->required()
      ->type_name("TEXT");
  command->add_option("-o,--output", options->output, "Where to save the voice")
      ->required()
      ->type_name("F.voice");
  command->add_flag("--json", options->json, "Report as one JSON object on stdout");
  add_model_options(*command, options->model);
  command->callback([options, &context] { context.exit_code = run_voice(*options); });
}

}  // namespace remora::cli
