// Each command adds itself to the program; its callback sets the exit code.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace remora::cli {

class Interrupt;

// What commands share while they run.
struct Context {
  Interrupt& interrupt;
  std::string command_line;  // as typed, for reports
  int exit_code = 0;
};

void add_say(CLI::App& app, Context& context);
void add_tokenize(CLI::App& app, Context& context);
void add_prompt(CLI::App& app, Context& context);
void add_encode(CLI::App& app, Context& context);
void add_decode(CLI::App& app, Context& context);
void add_roundtrip(CLI::App& app, Context& context);
void add_voice(CLI::App& app, Context& context);
void add_info(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);
void add_quantize(CLI::App& app, Context& context);
void add_make_tiny(CLI::App& app, Context& context);

}  // namespace remora::cli
