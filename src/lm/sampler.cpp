#include "lm/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/concat.h"
#include "base/error.h"

namespace remora::lm {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();
constexpr float kMinTemperature = 1e-5F;

[[noreturn]] void throw_numeric(std::string_view what, std::string_view why) {
  throw Error(Status::kNumeric,
              concat(what, ": ", why,
                     "; a damaged checkpoint, or values too large for the precision? try float32"));
}

// Sum of exp(l - max), in float64: the order of summation does not show.
double partition(std::span<const float> logits, float max) {
  double sum = 0;
  for (const float l : logits) sum += std::exp(l - max);
  return sum;
}

}  // namespace

void penalise(std::span<float> logits, std::vector<int32_t> entries, float penalty) {
  std::sort(entries.begin(), entries.end());
  entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
  for (const int32_t entry : entries) {
    if (entry < 0 || static_cast<size_t>(entry) >= logits.size()) continue;
    float& logit = logits[static_cast<size_t>(entry)];
    logit = logit < 0 ? logit * penalty : logit / penalty;
  }
}

int32_t Sampler::argmax(std::span<const float> logits, std::string_view what) {
  size_t best = 0;
  bool broken = logits.empty();
  for (size_t i = 0; i < logits.size(); ++i) {
    // Not (l < inf) is true for NaN and for +Inf.
    broken |= !(logits[i] < std::numeric_limits<float>::infinity());
    if (logits[i] > logits[best]) best = i;
  }
  if (broken) throw_numeric(what, "the logits hold a NaN or an infinity");
  if (logits[best] == kLowest) throw_numeric(what, "no entry is left to choose from");
  return static_cast<int32_t>(best);
}

const Kept& Sampler::filter(std::span<const float> logits, const Filter& filter,
                            std::string_view what) {
  const float max = logits[static_cast<size_t>(argmax(logits, what))];
  const double total = partition(logits, max);
  // A heap gives the largest entries one by one; few are needed as a rule.
  const auto worse = [&](int32_t a, int32_t b) {
    const float la = logits[static_cast<size_t>(a)], lb = logits[static_cast<size_t>(b)];
    return la != lb ? la < lb : a > b;
  };
  order_.clear();
  for (size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] > kLowest) order_.push_back(static_cast<int32_t>(i));
  }
  std::make_heap(order_.begin(), order_.end(), worse);
  const size_t most =
      std::min<size_t>(static_cast<size_t>(std::max(filter.top_k, 1)), order_.size());
  double running = 0;
  kept_.indices.clear();
  for (auto end = order_.end(); kept_.indices.size() < most; --end) {
    const int32_t entry = order_.front();
    running += static_cast<float>(std::exp(logits[static_cast<size_t>(entry)] - max) / total);
    if (static_cast<float>(running) > filter.top_p && !kept_.indices.empty()) break;
    kept_.indices.push_back(entry);
    std::pop_heap(order_.begin(), end, worse);
  }
  std::sort(kept_.indices.begin(), kept_.indices.end());

  const float temperature = std::max(filter.temperature, kMinTemperature);
  kept_.probabilities.clear();
  double sum = 0;
  for (const int32_t entry : kept_.indices) {
    const float p = std::exp((logits[static_cast<size_t>(entry)] - max) / temperature);
    kept_.probabilities.push_back(p);
    sum += p;
  }
  for (float& p : kept_.probabilities) p = static_cast<float>(p / sum);
  return kept_;
}

int32_t Sampler::race(const Kept& kept, std::span<const float> uniforms) {
  size_t best = 0;
  float best_score = -1;
  for (size_t i = 0; i < kept.indices.size(); ++i) {
    const float score = kept.probabilities[i] / -std::log(uniforms[i]);
    if (score > best_score) {
      best = i;
      best_score = score;
    }
  }
  return kept.indices[best];
}

int32_t Sampler::sample(std::span<const float> logits, const Filter& rule, const DrawWords& words,
                        UniformSource& stream, std::string_view what) {
  const Kept& kept = filter(logits, rule, what);
  words_.clear();
  for (const int32_t entry : kept.indices) {
    words_.push_back(words.of_entry.empty() ? entry : words.of_entry[static_cast<size_t>(entry)]);
  }
  uniforms_.resize(words_.size());
  stream.draw(words.count, words_, uniforms_);
  return race(kept, uniforms_);
}

}  // namespace remora::lm
