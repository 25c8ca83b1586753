// `tokenize` and `prompt`: what a text is to the model. Neither reads weights, unless a
// voice comes as sound.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "commands.h"
#include "failure.h"
#include "model_loading.h"
#include "report.h"
#include "voices.h"

namespace remora::cli {
namespace {

void print_line(std::span<const int32_t> numbers) {
  std::string line;
  for (const int32_t number : numbers) {
    if (!line.empty()) line.push_back(' ');
    line += std::to_string(number);
  }
  print_text(line + "\n");
}

struct TokenizeOptions {
  ModelOptions model;
  TextOptions text;
  bool allow_control = false;
  bool json = false;
};

int run_tokenize(const TokenizeOptions& options) {
  const std::string text = options.text.read();
  const LoadedModel model = load_model(options.model, REMORA_MODEL_TEXT_ONLY);
  const uint32_t flags = options.allow_control ? REMORA_PROMPT_ALLOW_CONTROL : 0;
  size_t needed = 0;
  check(remora_model_tokenize(model.model.get(), text.data(), text.size(), flags, nullptr, 0,
                              &needed));
  std::vector<int32_t> ids(needed);
  check(remora_model_tokenize(model.model.get(), text.data(), text.size(), flags, ids.data(),
                              ids.size(), &needed));
  if (options.json) {
    print_json({{"ids", ids}, {"text", text}});
  } else {
    print_line(ids);
  }
  return kDone;
}

struct ShowPromptOptions {
  ModelOptions model;
  PromptOptions prompt;
  bool json = false;
};

int run_prompt(const ShowPromptOptions& options) {
  const std::string text = options.prompt.text.read_speech();
  const LoadedModel model =
      load_model(options.model, needs_encoder(options.prompt) ? 0 : REMORA_MODEL_TEXT_ONLY);
  const std::vector<VoicePtr> voices = load_voices(model, options.prompt);
  std::vector<const remora_voice*> pointers;
  const remora_prompt prompt = make_prompt(options.prompt, text, voices, pointers);
  size_t needed = 0;
  check(remora_model_prompt(model.model.get(), &prompt, nullptr, 0, &needed));
  std::vector<int32_t> tokens(needed);  // [rows, columns]
  check(remora_model_prompt(model.model.get(), &prompt, tokens.data(), tokens.size(), &needed));

  const auto rows = static_cast<size_t>(model.info.n_codebooks) + 1;
  const size_t columns = tokens.size() / rows;
  Json matrix = Json::array();
  for (size_t row = 0; row < rows; ++row) {
    const auto line = std::span(tokens).subspan(row * columns, columns);
    if (options.json) {
      matrix.push_back(std::vector<int32_t>(line.begin(), line.end()));
    } else {
      print_line(line);
    }
  }
  if (options.json) {
    print_json({{"rows", rows}, {"columns", columns}, {"tokens", std::move(matrix)}});
  }
  return kDone;
}

}  // namespace

void add_tokenize(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("tokenize", "Turn a text into token ids");
  const auto options = std::make_shared<TokenizeOptions>();
  add_text_options(*command, options->text);
  command->add_flag("--allow-control", options->allow_control,
                    "Control tokens typed in the text become tokens (default: they are text)");
  command->add_flag("--json", options->json, "One JSON object: ids, text");
  add_model_options(*command, options->model);
  command->callback([options, &context] { context.exit_code = run_tokenize(*options); });
}

void add_prompt(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("prompt", "Show the prompt matrix that say would start with");
  const auto options = std::make_shared<ShowPromptOptions>();
  add_prompt_options(*command, options->prompt);
  command->add_flag("--json", options->json, "One JSON object: rows, columns, tokens");
  add_model_options(*command, options->model);
  command->callback([options, &context] { context.exit_code = run_prompt(*options); });
}

}  // namespace remora::cli
