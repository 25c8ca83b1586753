#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <fstream>
#include <memory>
#include <thread>

#include "bench/matrix.h"
#include "bench/pairs.h"
#include "bench/speed.h"
#include "commands.h"
#include "failure.h"
#include "files.h"
#include "model_loading.h"
#include "report.h"

namespace remora::cli {
namespace {

struct BenchOptions {
  ModelOptions model;
  SessionOptions session;
  std::vector<int64_t> prompts;
  std::vector<int64_t> capacities;
  std::vector<int64_t> sessions;
  int repeat = 5;
  bool matrix = false;
  bool one_kv = false;  // the matrix shows only the KV mode of `session`
  bool one_sdpa = false;
  bool no_codec = false;
  std::string markdown;
  bool json = false;
};

// What the processor calls itself.
std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

Json hardware_json(const LoadedModel& model, int threads) {
  remora_device_info device = {};
  device.struct_size = sizeof device;
  check(remora_device_describe(model.info.device, model.info.device_index, &device));
  return {{"processor", processor_name()},
          {"processors", std::thread::hardware_concurrency()},
          {"threads", threads},
          {"device", device_word(model.info.device, model.info.device_index)},
          {"device_name", device.name},
          {"device_memory", device.memory_total}};
}

// "frame_ms.234.median: 31.4", one line for each figure.
void print_figures(const Json& json, const std::string& prefix) {
  for (const auto& [key, value] : json.items()) {
    if (value.is_object()) {
      print_figures(value, prefix + key + ".");
      continue;
    }
    const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    print_text(prefix + key + ": " + (value.is_null() ? "-" : text) + "\n");
  }
}

int run_speed(const BenchOptions& options, const LoadedModel& model, int threads,
              const std::string& command) {
  SpeedOptions speed;
  if (!options.prompts.empty()) speed.prefixes = options.prompts;
  speed.repeat = options.repeat;
  speed.threads = threads;
  speed.sessions = options.sessions;
  Json json = measure_speed(model, options.model, options.session, speed);
  json["command"] = command;
  json["versions"] = remora_build_info();
  if (options.json) {
    print_json(json);
  } else {
    print_figures(json, "");
  }
  return kDone;
}

int run_matrix(const BenchOptions& options, const LoadedModel& model, int threads,
               const std::string& command) {
  MatrixOptions matrix;
  if (!options.prompts.empty()) matrix.prompts = options.prompts;
  if (!options.capacities.empty()) matrix.capacities = options.capacities;
  matrix.repeat = options.repeat;
  if (options.one_kv) matrix.kv = options.session.kv;
  if (options.one_sdpa) matrix.sdpa = options.session.sdpa;
  const Json json = {{"command", command},
                     {"versions", remora_build_info()},
                     {"hardware", hardware_json(model, threads)},
                     {"model", model.name},
                     {"dtype", dtype_word(model.info.dtype)},
                     {"weights", weights_word(model.info.weights)},
                     {"sampling", "greedy"},
                     {"repeat", options.repeat},
                     {"capacity_cost", measure_capacity_cost(model, matrix)},
                     {"rows", measure_matrix(model, matrix)}};
  const std::string table = "`" + command + "`, " + remora_build_info() + ", " + processor_name() +
                            ", " + std::to_string(threads) + " threads\n\n" +
                            matrix_markdown(json["rows"]);
  if (!options.markdown.empty()) write_file(options.markdown, table);
  if (options.json) {
    print_json(json);
  } else if (options.markdown.empty()) {
    print_text(table);
  }
  return kDone;
}

int run_bench(BenchOptions options, const std::string& command) {
  if (!options.markdown.empty()) check_writable_place(options.markdown);
  // Said, not left to LibTorch, so that the report and the read bandwidth speak of the same number.
  if (options.model.threads == 0) {
    options.model.threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  }
  const uint32_t flags =
      options.matrix || options.no_codec ? REMORA_MODEL_NO_CODEC : REMORA_MODEL_NO_ENCODER;
  const LoadedModel model = load_model(options.model, flags);
  return options.matrix ? run_matrix(options, model, options.model.threads, command)
                        : run_speed(options, model, options.model.threads, command);
}

}  // namespace

void add_bench(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("bench", "Measure speed, memory and what limits them");
  const auto options = std::make_shared<BenchOptions>();
  auto* matrix = command->add_flag("--matrix", options->matrix,
                                   "Compare KV modes and attention kernels instead");
  command
      ->add_option("--prompts", options->prompts,
                   "Prompt lengths in columns (default: 234,1000; with --matrix: 32,234,2048)")
      ->delimiter(',')
      ->check(CLI::Range(16, 1 << 20).description(""))
      ->type_name("N,N,...");
  command
      ->add_option("--capacities", options->capacities, "Of the matrix (default: 512,4096,32768)")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20).description(""))
      ->type_name("N,N,...")
      ->needs(matrix);
  command
      ->add_option("--sessions", options->sessions,
                   "Also step so many sessions together, over one read of the weights (1 to 8)")
      ->delimiter(',')
      ->check(CLI::Range(1, REMORA_STEP_SESSIONS_MAX).description(""))
      ->type_name("N,N,...")
      ->excludes(matrix);
  command->add_option("--repeat", options->repeat, "Samples of each figure (default: 5)")
      ->check(CLI::Range(1, 1000).description(""))
      ->type_name("N");
  command->add_flag("--no-codec", options->no_codec, "Measure the language model only");
  command->add_option("--markdown", options->markdown, "Write the matrix as a Markdown table, too")
      ->type_name("FILE")
      ->needs(matrix);
  command->add_flag("--json", options->json, "One JSON object on stdout");
  add_session_options(*command, options->session);
  add_model_options(*command, options->model);
  command->callback([options, command, &context] {
    options->one_kv = command->count("--kv") > 0;
    options->one_sdpa = command->count("--sdpa") > 0;
    context.exit_code = run_bench(*options, context.command_line);
  });
}

}  // namespace remora::cli
