#include "bench/matrix.h"

#include <charconv>
#include <optional>

#include "bench/outcome.h"
#include "bench/timing.h"
#include "bench/trial.h"
#include "failure.h"
#include "options.h"
#include "terminal.h"

namespace remora::cli {
namespace {

constexpr int kWarmSteps = 1;  // behind the cold first one

struct Way {
  const char* mode;
  remora_kv_mode kv;
  remora_sdpa_policy sdpa;
};

// The first is what the others are compared with.
constexpr Way kWays[] = {
    {"eager", REMORA_KV_FULL, REMORA_SDPA_MATH},
    {"eager", REMORA_KV_FULL, REMORA_SDPA_AUTO},
    {"eager", REMORA_KV_ACTIVE_PREFIX, REMORA_SDPA_MATH},
    {"eager", REMORA_KV_ACTIVE_PREFIX, REMORA_SDPA_AUTO},
    {"graph", REMORA_KV_GRAPH, REMORA_SDPA_MATH},
};

uint64_t device_memory_in_use(const remora_model_info& info) {
  if (info.device == REMORA_DEVICE_CPU) return 0;
  remora_device_info device = {};
  device.struct_size = sizeof device;
  check(remora_device_describe(info.device, info.device_index, &device));
  return device.memory_total - device.memory_free;
}

Outcome run_way(const LoadedModel& model, const Way& way, const std::vector<int32_t>& prompt,
                int64_t capacity, int repeat) {
  SessionOptions options;
  options.capacity = static_cast<int32_t>(capacity);
  options.kv = way.kv;
  options.sdpa = way.sdpa;
  check(remora_trim_memory());
  reset_peak_memory();
  remora_session_params params = options.to_library();
  params.flags |= REMORA_SESSION_KEEP_LOGITS;
  Trial trial(model, params, greedy_sampling());
  Outcome outcome;
  trial.prefill(prompt);
  trial.settle();
  bool ended = false;
  for (int i = 0; i < 1 + kWarmSteps + repeat; ++i) {
    if (!ended) outcome.logits.push_back(trial.logits());
    std::optional<double> elapsed = trial.step();
    if (!elapsed) {
      if (!ended) outcome.codes = trial.codes();
      ended = true;
      elapsed = trial.again();
    }
    if (i == 0) outcome.first_step_ms = *elapsed;
    if (i > kWarmSteps) outcome.step_ms.add(*elapsed);
  }
  const remora_stats stats = trial.stats();
  outcome.sdpa_ran = stats.sdpa_step;
  outcome.kv_bytes = stats.kv_bytes;
  outcome.peak_bytes = peak_memory_since_reset();
  outcome.device_bytes = device_memory_in_use(model.info);
  if (!ended) outcome.codes = trial.codes();
  return outcome;
}

Json describe_row(const Way& way, int64_t prompt, int64_t capacity) {
  return {{"mode", way.mode},
          {"kv", kv_word(way.kv)},
          {"sdpa", sdpa_word(way.sdpa)},
          {"sdpa_ran", nullptr},
          {"prompt", prompt},
          {"capacity", capacity},
          {"step_ms", nullptr},
          {"step_ms_min", nullptr},
          {"step_ms_max", nullptr},
          {"first_step_ms", nullptr},
          {"kv_bytes", nullptr},
          {"peak_rss_bytes", nullptr},
          {"device_bytes", nullptr},
          {"finite", nullptr},
          {"max_logit_diff", nullptr},
          {"argmax_agree", nullptr},
          {"first_diverging_frame", nullptr}};
}

void fill_row(const Outcome& outcome, Json& row) {
  row["sdpa_ran"] = sdpa_word(outcome.sdpa_ran);
  row["step_ms"] = rounded(outcome.step_ms.median());
  row["step_ms_min"] = rounded(outcome.step_ms.min());
  row["step_ms_max"] = rounded(outcome.step_ms.max());
  row["first_step_ms"] = rounded(outcome.first_step_ms);
  row["kv_bytes"] = outcome.kv_bytes;
  row["peak_rss_bytes"] = outcome.peak_bytes;
  if (outcome.device_bytes > 0) row["device_bytes"] = outcome.device_bytes;
  row["finite"] = all_finite(outcome.logits);
}

// All ways at one prompt and capacity.
void measure_cell(const LoadedModel& model, const MatrixOptions& options, int64_t prompt,
                  int64_t capacity, Progress& progress, Json& rows) {
  const std::vector<int32_t> tokens = prompt_of_length(model, prompt);
  const auto n_codes = static_cast<size_t>(model.info.n_codebooks);
  std::optional<Outcome> baseline;
  for (const Way& way : kWays) {
    if (way.kv != options.kv.value_or(way.kv)) continue;
    if (way.sdpa != options.sdpa.value_or(way.sdpa)) continue;
    Json row = describe_row(way, prompt, capacity);
    progress.show(std::string("bench: ") + way.mode + " " + kv_word(way.kv) + " " +
                  sdpa_word(way.sdpa) + ", prompt " + std::to_string(prompt) + ", capacity " +
                  std::to_string(capacity));
    try {
      Outcome outcome = run_way(model, way, tokens, capacity, options.repeat);
      fill_row(outcome, row);
      if (&way == &kWays[0]) baseline = outcome;
      if (baseline) compare(outcome, *baseline, n_codes, row);
    } catch (const Failure& failure) {
      if (failure.code() != kError) throw;
      row["error"] = failure.what();
    }
    rows.push_back(std::move(row));
  }
}

// Four significant digits: differences of logits can be tiny.
std::string short_number(double value) {
  char text[32];
  const auto end =
      std::to_chars(text, text + sizeof text, value, std::chars_format::general, 4).ptr;
  return {text, end};
}

std::string cell(const Json& value) {
  if (value.is_null()) return "-";
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return short_number(value.get<double>());
  return value.dump();
}

}  // namespace

Json measure_matrix(const LoadedModel& model, const MatrixOptions& options) {
  Json rows = Json::array();
  Progress progress;
  const int64_t steps = 1 + kWarmSteps + options.repeat;
  for (const int64_t prompt : options.prompts) {
    for (const int64_t capacity : options.capacities) {
      if (prompt + steps > capacity || capacity > model.info.max_seq_len) continue;
      measure_cell(model, options, prompt, capacity, progress, rows);
    }
  }
  return rows;
}

std::string matrix_markdown(const Json& rows) {
  constexpr const char* kColumns[] = {"mode",
                                      "kv",
                                      "sdpa",
                                      "sdpa_ran",
                                      "prompt",
                                      "capacity",
                                      "step_ms",
                                      "step_ms_min",
                                      "step_ms_max",
                                      "first_step_ms",
                                      "kv_bytes",
                                      "peak_rss_bytes",
                                      "device_bytes",
                                      "finite",
                                      "max_logit_diff",
                                      "argmax_agree",
                                      "first_diverging_frame"};
  std::string head = "|";
  std::string line = "|";
  for (const char* column : kColumns) {
    head.append(" ").append(column).append(" |");
    line += "---|";
  }
  std::string table = head + "\n" + line + "\n";
  for (const Json& row : rows) {
    table += "|";
    for (const char* column : kColumns) table.append(" ").append(cell(row.at(column))).append(" |");
    if (row.contains("error")) table.append(" ").append(row["error"].get<std::string>());
    table += "\n";
  }
  return table;
}

}  // namespace remora::cli
