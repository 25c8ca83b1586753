#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>

#include "commands.h"
#include "failure.h"
#include "model_loading.h"
#include "report.h"
#include "terminal.h"

namespace remora::cli {
namespace {

struct InfoOptions {
  ModelOptions model;
  bool json = false;
  bool estimate = false;
};

Json lm_json(const remora_model_info& info) {
  return {{"n_codebooks", info.n_codebooks},
          {"codebook_size", info.codebook_size},
          {"max_seq_len", info.max_seq_len},
          {"vocab_size", info.vocab_size},
          {"semantic_begin", info.semantic_begin},
          {"semantic_end", info.semantic_end},
          {"end_token", info.end_token},
          {"dtype", dtype_word(info.dtype)},
          {"weights", weights_word(info.weights)},
          {"weights_group", info.int4_group},
          {"weights_saved", info.saved_weights != 0}};
}

Json codec_json(const remora_model_info& info) {
  return {{"sample_rate", info.sample_rate},
          {"samples_per_frame", info.samples_per_frame},
          {"frames_per_second",
           rounded(static_cast<double>(info.sample_rate) / std::max(info.samples_per_frame, 1), 4)},
          {"dtype", dtype_word(info.codec_dtype)},
          {"has_encoder", info.has_encoder != 0}};
}

// Every device that this process could use.
Json devices_json() {
  Json list = Json::array();
  for (const remora_device_kind kind : {REMORA_DEVICE_CPU, REMORA_DEVICE_CUDA, REMORA_DEVICE_MPS}) {
    for (int32_t index = 0; index < remora_device_count(kind); ++index) {
      remora_device_info device = {};
      device.struct_size = sizeof device;
      check(remora_device_describe(kind, index, &device));
      list.push_back({{"device", device_word(kind, index)},
                      {"name", device.name},
                      {"memory_total", device.memory_total},
                      {"memory_free", device.memory_free}});
    }
  }
  return list;
}

Json memory_json(const remora_memory& memory) {
  return {{"weights", memory.weights},
          {"codec", memory.codec},
          {"kv_per_position", memory.kv_per_position}};
}

Json estimate_json(const Estimate& estimate) {
  return {{"model", estimate.name},
          {"memory", memory_json(estimate.memory)},
          {"peak_rss_bytes", peak_rss_bytes()},
          {"devices", devices_json()},
          {"build", remora_build_info()}};
}

Json model_json(const LoadedModel& model) {
  const remora_model_info& info = model.info;
  remora_memory memory = {};
  memory.struct_size = sizeof memory;
  check(remora_model_memory(model.model.get(), &memory));
  Json json = {{"model", model.name},
               {"family", info.family},
               {"device", device_word(info.device, info.device_index)},
               {"lm", nullptr},
               {"codec", nullptr},
               {"memory", memory_json(memory)},
               {"load_ms", rounded(model.load_ms)},
               {"peak_rss_bytes", peak_rss_bytes()},
               {"devices", devices_json()},
               {"build", remora_build_info()}};
  if (info.has_lm != 0) json["lm"] = lm_json(info);
  if (info.has_codec != 0) json["codec"] = codec_json(info);
  return json;
}

// "lm.dtype: bf16", one line for each leaf; members of a list are counted from 0.
void print_lines(const Json& json, const std::string& prefix) {
  for (const auto& [key, value] : json.items()) {
    if (value.is_structured()) {
      print_lines(value, prefix + key + ".");
    } else {
      const std::string text = value.is_string() ? value.get<std::string>() : value.dump();
      print_text(prefix + key + ": " + (value.is_null() ? "none" : text) + "\n");
    }
  }
}

int run_info(const InfoOptions& options) {
  const Json json = options.estimate ? estimate_json(estimate_model(options.model, 0, true))
                                     : model_json(load_model(options.model, 0, true));
  if (options.json) {
    print_json(json);
  } else {
    print_lines(json, "");
  }
  return kDone;
}

}  // namespace

void add_info(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("info", "Show a model's sizes, precision and memory, and this build");
  const auto options = std::make_shared<InfoOptions>();
  command->add_flag("--json", options->json, "One JSON object on stdout");
  command->add_flag("--estimate", options->estimate,
                    "Only the memory that the model would take; reads no weights");
  add_model_options(*command, options->model);
  command->callback([options, &context] { context.exit_code = run_info(*options); });
}

}  // namespace remora::cli
