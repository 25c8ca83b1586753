// One draw from a logit vector: filter, temperature, exponential race. float32 throughout.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "lm/rng.h"

namespace remora::lm {

struct Filter {
  float temperature = 1;
  float top_p = 1;
  int32_t top_k = 0;  // entries kept at most; 0 and 1 keep the most likely only
};

// What a filter left of a distribution.
struct Kept {
  std::vector<int32_t> indices;      // ascending
  std::vector<float> probabilities;  // of those, after temperature; they add up to 1
};

// Which words of the random stream belong to the entries of a logit vector. A draw takes one word
// per entry of the whole table, also where only some of its entries are candidates.
struct DrawWords {
  int64_t count = 0;                    // words a draw takes
  std::span<const int32_t> of_entry{};  // ascending; empty: entry i has word i
};

// Divides the positive and multiplies the negative logits at `entries` by `penalty`. An entry named
// twice gets it once; numbers that are no entry are passed over.
void penalise(std::span<float> logits, std::vector<int32_t> entries, float penalty);

// Scratch memory and the rules; holds no state between draws. Not thread-safe.
class Sampler {
 public:
  // Sorts by logit (ties: lower index first) and removes entry i if the running sum of
  // probabilities at temperature 1, itself included, exceeds top_p, or if i >= top_k; entry 0
  // stays. Then divides by the temperature (not below 1e-5). The result is valid until the next
  // call. Throws Error{kNumeric} naming `what` for a NaN or +Inf, and when every entry is -Inf.
  const Kept& filter(std::span<const float> logits, const Filter& filter, std::string_view what);

  // The entry with the largest probability / -ln(u), one uniform number per kept entry.
  static int32_t race(const Kept& kept, std::span<const float> uniforms);

  // filter() and race() with the stream's next `words.count` words. Returns the entry's index.
  int32_t sample(std::span<const float> logits, const Filter& filter, const DrawWords& words,
                 UniformSource& stream, std::string_view what);

  // The most likely entry, the first of equals. Throws as filter().
  static int32_t argmax(std::span<const float> logits, std::string_view what);

 private:
  std::vector<int32_t> order_;
  std::vector<int32_t> words_;
  std::vector<float> uniforms_;
  Kept kept_;
};

}  // namespace remora::lm
