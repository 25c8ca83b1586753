// The `remora` program: a command line over the public header and nothing else.
#include <remora/remora.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <csignal>
#include <exception>

#include "commands.h"
#include "failure.h"
#include "interrupt.h"
#include "terminal.h"

namespace {

using namespace remora::cli;

void add_commands(CLI::App& app, Context& context) {
  add_say(app, context);
  add_tokenize(app, context);
  add_prompt(app, context);
  add_encode(app, context);
  add_decode(app, context);
  add_roundtrip(app, context);
  add_voice(app, context);
  add_info(app, context);
  add_bench(app, context);
  add_quantize(app, context);
  add_make_tiny(app, context);
}

// What would run this again from a shell; words with blanks are quoted.
std::string command_line(int argc, char** argv) {
  std::string line = "remora";
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool quote = word.empty() || word.find_first_of(" \t\n'\"") != std::string::npos;
    line += quote ? " '" + word + "'" : " " + word;
  }
  return line;
}

int run(int argc, char** argv) {
  Interrupt interrupt;
  Context context{interrupt, command_line(argc, argv)};
  CLI::App app("Text to speech with Fish Speech models.", "remora");
  app.set_version_flag("--version", [] { return std::string(remora_build_info()); });
  app.require_subcommand(1);
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    return "remora: " + std::string(error.what()) + "; remora COMMAND --help lists the options\n";
  });
  add_commands(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kDone : kUsage;
  }
  return context.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away is an error like another, with a line
  try {
    if (remora_abi_version() != REMORA_ABI_VERSION) {
      note("libremora has ABI " + std::to_string(remora_abi_version()) + ", this program needs " +
           std::to_string(REMORA_ABI_VERSION) + "; install matching versions");
      return kError;
    }
    return run(argc, argv);
  } catch (const Failure& failure) {
    note(failure.what());
    return failure.code();
  } catch (const std::exception& error) {
    note(std::string(error.what()) + " (unexpected; please report it)");
    return kError;
  }
}
