#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <memory>

#include "commands.h"
#include "failure.h"
#include "synthetic/checkpoint.h"
#include "terminal.h"

namespace remora::cli {
namespace {

struct MakeTinyOptions {
  std::string folder;
  std::string family = "s2-pro";
  uint64_t seed = kTinySeed;
};

CheckpointShape shape_of(const std::string& family) {
  if (family == "s2-pro-16k") return tiny_16k_shape();
  return tiny_shape(family == "s1-mini" ? Family::kS1Mini : Family::kS2Pro);
}

int run_make_tiny(const MakeTinyOptions& options) {
  std::error_code error;
  const std::filesystem::path folder = options.folder;
  if (std::filesystem::exists(folder, error) && !std::filesystem::is_empty(folder, error)) {
    throw Failure(kError, options.folder + ": is there and not empty; nothing was written");
  }
  SyntheticCheckpoint(shape_of(options.family), options.seed, Ending::kByLength).write_to(folder);
  note(options.folder + ": wrote a tiny random " + options.family + " checkpoint (it babbles)");
  return kDone;
}

}  // namespace

void add_make_tiny(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "make-tiny", "Write a tiny random checkpoint in the real layout, for tests and bug reports");
  const auto options = std::make_shared<MakeTinyOptions>();
  command->add_option("DIR", options->folder, "Folder to make")->required()->type_name("");
  command
      ->add_option("--family", options->family,
                   "Layout (default: s2-pro); s2-pro-16k has a 16 kHz codec of other sizes")
      ->check(CLI::IsMember({"s2-pro", "s1-mini", "s2-pro-16k"}).description(""))
      ->type_name("s2-pro|s1-mini|s2-pro-16k");
  command->add_option("--seed", options->seed, "Of the random weights (default: 1)")
      ->type_name("N");
  command->callback([options, &context] { context.exit_code = run_make_tiny(*options); });
}

}  // namespace remora::cli
