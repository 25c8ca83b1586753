#include "lm/sampling.h"

#include <string_view>

#include "base/concat.h"
#include "base/error.h"

namespace remora::lm {
namespace {

template <typename T>
void check(std::string_view field, T value, bool good, std::string_view expected) {
  if (good) return;
  throw Error(Status::kInvalidArgument,
              concat("sampling: ", field, " is ", value, ", expected ", expected));
}

}  // namespace

void validate(const SamplingParams& p, Family family) {
  // Written so that NaN fails.
  check("temperature", p.temperature, p.temperature >= 0 && p.temperature <= 2, "0 (greedy) to 2");
  check("top_p", p.top_p, p.top_p > 0 && p.top_p <= 1, "above 0 and at most 1");
  check("top_k", p.top_k, p.top_k >= 1, "at least 1 (1 is greedy)");
  check("ras_window", p.ras_window, p.ras_window >= 0 && p.ras_window <= 1024, "0 (off) to 1024");
  if (family == Family::kS1) {
    check("repetition_penalty", p.repetition_penalty,
          p.repetition_penalty >= 0.5F && p.repetition_penalty <= 2, "0.5 to 2 (1 is off)");
  } else {
    check("repetition_penalty", p.repetition_penalty, p.repetition_penalty == 1,
          "1: S2-Pro has no repetition penalty, its ras_window takes that part");
  }
}

}  // namespace remora::lm
