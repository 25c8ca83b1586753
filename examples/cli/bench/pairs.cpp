#include "bench/pairs.h"

#include <optional>

#include "bench/timing.h"
#include "bench/trial.h"
#include "options.h"
#include "terminal.h"

namespace remora::cli {
namespace {

constexpr int kRoundsPerRepeat = 8;  // single steps differ by more than what is looked for
constexpr int kWarmRounds = 2;

Trial start(const LoadedModel& model, int64_t capacity, const std::vector<int32_t>& prompt) {
  SessionOptions options;
  options.capacity = static_cast<int32_t>(capacity);
  Trial trial(model, options.to_library(), greedy_sampling());
  trial.prefill(prompt);
  trial.settle();
  return trial;
}

Json measure_pair(const LoadedModel& model, int64_t prompt, int64_t small, int64_t large,
                  int rounds) {
  const std::vector<int32_t> tokens = prompt_of_length(model, prompt);
  Trial a = start(model, small, tokens);
  Trial b = start(model, large, tokens);
  Samples ratio;
  for (int round = 0; round < kWarmRounds + rounds; ++round) {
    // Who goes first changes: the second one finds warm caches.
    Trial& first = round % 2 == 0 ? a : b;
    Trial& second = round % 2 == 0 ? b : a;
    const double first_ms = first.step_or_again();
    const double second_ms = second.step_or_again();
    const double sample = round % 2 == 0 ? second_ms / first_ms : first_ms / second_ms;
    if (round >= kWarmRounds) ratio.add(sample);
  }
  return {{"kv", kv_word(REMORA_KV_ACTIVE_PREFIX)},
          {"sdpa_ran", sdpa_word(b.stats().sdpa_step)},
          {"prompt", prompt},
          {"capacities", {small, large}},
          {"ratio",
           {{"median", rounded(ratio.median(), 4)},
            {"q1", rounded(ratio.quantile(0.25), 4)},
            {"q3", rounded(ratio.quantile(0.75), 4)}}},
          {"rounds", ratio.size()}};
}

}  // namespace

Json measure_capacity_cost(const LoadedModel& model, const MatrixOptions& options) {
  Json pairs = Json::array();
  Progress progress;
  for (const int64_t prompt : options.prompts) {
    const int rounds = kRoundsPerRepeat * options.repeat;
    std::optional<int64_t> small, large;
    for (const int64_t capacity : options.capacities) {
      if (prompt + kWarmRounds + rounds > capacity || capacity > model.info.max_seq_len) continue;
      if (!small || capacity < *small) small = capacity;
      if (!large || capacity > *large) large = capacity;
    }
    if (!small || *small == *large) continue;
    progress.show("bench: the cost of capacity at prompt " + std::to_string(prompt));
    pairs.push_back(measure_pair(model, prompt, *small, *large, rounds));
  }
  return pairs;
}

}  // namespace remora::cli
