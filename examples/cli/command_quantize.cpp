#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "checkpoint_copy.h"
#include "commands.h"
#include "failure.h"
#include "interrupt.h"
#include "model_loading.h"
#include "report.h"
#include "terminal.h"

namespace remora::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWeightsFile = "model.safetensors";
constexpr const char* kIndexFile = "model.safetensors.index.json";

struct QuantizeOptions {
  std::vector<std::string> folders;  // DIR and OUT; with --random only OUT
  ModelOptions model;
  bool report = false;
  bool force = false;
  bool json = false;

  // Fills in the model and gives OUT, "" for none.
  std::string take_folders();
};

std::string QuantizeOptions::take_folders() {
  size_t taken = 0;
  if (model.random.empty()) {
    if (folders.empty()) throw Failure(kUsage, "quantize: which checkpoint? Give DIR or --random");
    model.model = folders[taken++];
  }
  if (folders.size() > taken + 1) {
    throw Failure(kUsage, "quantize: '" + folders.back() + "' is one folder too many");
  }
  if (taken < folders.size()) return folders[taken];
  if (!report) throw Failure(kUsage, "quantize: where to? Give OUT, or --report to write nothing");
  return "";
}

// Said before the long work.
void check_target(const std::string& out, const QuantizeOptions& options) {
  std::error_code error;
  const auto refuse = [&](const std::string& reason) {
    throw Failure(kError, out + ": " + reason);
  };
  if (!fs::exists(out, error)) return;
  if (!fs::is_directory(out, error)) refuse("is there and no folder; choose another place");
  if (!options.model.model.empty() && fs::equivalent(out, options.model.model, error)) {
    refuse("is the checkpoint itself; choose another folder, it is read while OUT is written");
  }
  if (fs::is_empty(out, error)) return;
  if (!options.force) refuse("is there and not empty; choose another folder, or add --force");
  if (fs::exists(fs::path(out) / kIndexFile, error)) {
    refuse(std::string("holds ") + kIndexFile +
           ", whose weights would be loaded instead; choose another folder");
  }
}

std::vector<remora_weight_error> errors_of(const remora_model* model) {
  std::vector<remora_weight_error> all;
  while (true) {
    remora_weight_error error = {};
    error.struct_size = sizeof error;
    const remora_status status = remora_model_weight_error(model, all.size(), &error);
    if (status == REMORA_END) return all;
    check(status);
    all.push_back(error);
  }
}

std::string format_text(const remora_weight_error& error) {
  std::string text = weights_word(error.weights);
  if (error.int4_group > 0) text += " g" + std::to_string(error.int4_group);
  return text;
}

std::string table_of(const std::vector<remora_weight_error>& errors) {
  std::string table =
      "| matrices | kept as | numbers | relative error | largest error / largest number |\n"
      "|---|---|---|---|---|\n";
  for (const remora_weight_error& error : errors) {
    const double largest = error.largest_number;
    const double ratio = largest > 0 ? double{error.largest_error} / largest : 0;
    table += "| " + std::string(error.layer) + " | " + format_text(error) + " | " +
             std::to_string(error.numbers) + " | " + fixed(100 * double{error.relative_error}, 3) +
             " % | " + fixed(100 * ratio, 3) + " % |\n";
  }
  return table;
}

Json errors_json(const std::vector<remora_weight_error>& errors) {
  Json list = Json::array();
  for (const remora_weight_error& error : errors) {
    list.push_back({{"layer", error.layer},
                    {"weights", weights_word(error.weights)},
                    {"group", error.int4_group},
                    {"numbers", error.numbers},
                    {"relative_error", error.relative_error},
                    {"largest_error", error.largest_error},
                    {"largest_number", error.largest_number}});
  }
  return list;
}

int32_t REMORA_CALL on_write_progress(void* user, float fraction) {
  static_cast<Progress*>(user)->show("writing", fraction);
  return Interrupt::raised() ? 1 : 0;
}

// The folder's other files first: without weights it cannot be taken for a checkpoint.
void write_checkpoint(const LoadedModel& model, const QuantizeOptions& options,
                      const std::string& out) {
  NewFolder folder(out);
  if (model.backing) {
    model.backing->write_to(folder.path(), kWeightsFile,
                            [&folder](std::string_view name) { folder.will_make(name); });
  } else {
    folder.copy_from(options.model.model);
  }
  folder.will_make(kWeightsFile);
  Progress progress;
  const std::string weights = (folder.path() / kWeightsFile).string();
  check(
      remora_model_save_weights(model.model.get(), weights.c_str(), on_write_progress, &progress));
  folder.keep();
}

void print_report(const QuantizeOptions& options, const remora_model* model,
                  const std::string& command, Json json) {
  const std::vector<remora_weight_error> errors =
      options.report ? errors_of(model) : std::vector<remora_weight_error>();
  if (!options.json) {
    if (options.report) print_text(table_of(errors));
    return;
  }
  json["peak_rss_bytes"] = peak_rss_bytes();
  json["command"] = command;
  json["versions"] = remora_build_info();
  if (options.report) json["errors"] = errors_json(errors);
  print_json(json);
}

int run_quantize(QuantizeOptions options, const std::string& command) {
  const std::string out = options.take_folders();
  if (!out.empty()) check_target(out, options);
  // From the checkpoint's own numbers, whatever a model computes in later.
  options.model.dtype = REMORA_DTYPE_F32;
  const uint32_t flags =
      REMORA_MODEL_NO_CODEC | (options.report ? uint32_t{REMORA_MODEL_WEIGHT_ERRORS} : 0);
  const LoadedModel model = load_model(options.model, flags);
  if (model.info.saved_weights != 0) {
    throw Failure(kError, model.name + ": is quantised already (" +
                              weights_word(model.info.weights) + "); convert the original one");
  }
  Json json = {{"model", model.name},
               {"weights", weights_word(model.info.weights)},
               {"group", model.info.int4_group},
               {"out", nullptr},
               {"convert_ms", rounded(model.load_ms)},
               {"write_ms", nullptr}};
  if (!out.empty()) {
    const auto start = std::chrono::steady_clock::now();
    write_checkpoint(model, options, out);
    json["out"] = out;
    json["write_ms"] = rounded(milliseconds_since(start));
    note(out + ": wrote a checkpoint with " + weights_word(model.info.weights) + " weights");
  }
  print_report(options, model.model.get(), command, std::move(json));
  return kDone;
}

}  // namespace

void add_quantize(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "quantize", "Write a checkpoint with 8 or 4 bit weights, which loads without converting");
  const auto options = std::make_shared<QuantizeOptions>();
  options->model.weights = REMORA_WEIGHTS_INT8;
  command
      ->add_option("FOLDERS", options->folders,
                   "The checkpoint, and the folder to make; with --random only the latter")
      ->expected(0, 2)
      ->type_name("DIR OUT");
  add_random_option(*command, options->model);
  add_weights_options(*command, options->model, {"int8", "int4"});
  command->add_flag("--report", options->report,
                    "Show how far the weights are from the checkpoint's; OUT may be left out");
  command->add_flag("--force", options->force, "Write into a folder that is not empty");
  add_process_options(*command, options->model);
  command->add_flag("--json", options->json, "One JSON object on stdout");
  command->callback(
      [options, &context] { context.exit_code = run_quantize(*options, context.command_line); });
}

}  // namespace remora::cli
