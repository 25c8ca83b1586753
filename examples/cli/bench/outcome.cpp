#include "bench/outcome.h"

#include <algorithm>
#include <cmath>

namespace remora::cli {
namespace {

// The first frame whose codes differ, or the number of frames that can be compared.
size_t equal_frames(const Outcome& a, const Outcome& b, size_t n_codes) {
  const size_t n = std::min(a.codes.size(), b.codes.size());
  const auto difference = std::mismatch(a.codes.begin(), a.codes.begin() + n, b.codes.begin());
  return static_cast<size_t>(difference.first - a.codes.begin()) / n_codes;
}

double max_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double most = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    most = std::max(most, std::abs(static_cast<double>(a[i]) - b[i]));
  }
  return most;
}

ptrdiff_t argmax(const std::vector<float>& values) {
  return std::max_element(values.begin(), values.end()) - values.begin();
}

}  // namespace

bool all_finite(const std::vector<std::vector<float>>& logits) {
  return std::all_of(logits.begin(), logits.end(), [](const std::vector<float>& frame) {
    return std::all_of(frame.begin(), frame.end(), [](float x) { return std::isfinite(x); });
  });
}

void compare(const Outcome& outcome, const Outcome& baseline, size_t n_codes, Json& row) {
  const size_t equal = equal_frames(outcome, baseline, n_codes);
  const size_t common = std::min(outcome.logits.size(), baseline.logits.size());
  const size_t compared = std::min(equal + 1, common);
  if (compared == 0) return;
  double most = 0;
  bool agree = true;
  for (size_t i = 0; i < compared; ++i) {
    most = std::max(most, max_difference(outcome.logits[i], baseline.logits[i]));
    agree = agree && argmax(outcome.logits[i]) == argmax(baseline.logits[i]);
  }
  row["max_logit_diff"] = most;
  row["argmax_agree"] = agree;
  const size_t frames = std::max(outcome.codes.size(), baseline.codes.size()) / n_codes;
  if (equal < frames) row["first_diverging_frame"] = equal;
}

}  // namespace remora::cli
