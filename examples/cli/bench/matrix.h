// The A/B matrix: ways to keep the KV cache and to attend, against prompt length and capacity.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model_loading.h"
#include "report.h"

namespace remora::cli {

struct MatrixOptions {
  std::vector<int64_t> prompts = {32, 234, 2048};
  std::vector<int64_t> capacities = {512, 4096, 32768};
  int repeat = 5;  // warm steps timed in each row
  // Only these ways, where given. Without the first way there is nothing to compare with.
  std::optional<remora_kv_mode> kv;
  std::optional<remora_sdpa_policy> sdpa;
};

// One object a row. Combinations that do not fit the capacity or the model are left out; one that
// the library refuses has its reason as "error".
Json measure_matrix(const LoadedModel& model, const MatrixOptions& options);

// The rows as a Markdown table.
std::string matrix_markdown(const Json& rows);

}  // namespace remora::cli
