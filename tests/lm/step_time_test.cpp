// What a step costs: the positions that are filled, not those that there is room for.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "lm/made_up_model.h"
#include "lm/tiny_model.h"

namespace remora::lm {
namespace {

const CancelFlag kGoOn;

// The attention of S2-Pro in two layers of little else.
std::shared_ptr<const LanguageModel> real_heads() {
  return test::made_up_model({2, 256, 32, 8, 128, 64, true, false, false},
                             {1, 256, 4, 2, 64, 64, false, false, false}, 4);
}

constexpr int kSteps = 64;

struct Timed {
  explicit Timed(int64_t room) : capacity(room), best(kSteps, 1e9) {}
  int64_t capacity;
  std::vector<double> best;  // of each step, in seconds, over all rounds
  std::vector<std::vector<int32_t>> codes;

  double median() const {
    std::vector<double> sorted = best;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

// One round of 64 steps of each, taken in turn so that a busy machine slows both. The least time of
// a step over the rounds is what it costs; anything above is the machine's.
void one_round(const std::shared_ptr<const LanguageModel>& model, std::vector<Timed>& sides) {
  std::vector<int32_t> prompt;
  for (int32_t column = 0; column < 100; ++column) {
    prompt.insert(prompt.end(), {column % 140, 0, 0, 0, 0});
  }
  std::vector<Decoder> decoders;
  for (Timed& side : sides) {
    DecoderOptions options;
    options.capacity = side.capacity;
    options.threads = 1;
    decoders.emplace_back(model, options);
    decoders.back().set_sampling({}, 7);
    decoders.back().prefill(prompt, kGoOn);
    side.codes.clear();
  }
  for (size_t step = 0; step < kSteps; ++step) {
    for (size_t i = 0; i < sides.size(); ++i) {
      const auto start = std::chrono::steady_clock::now();
      const Frame frame = decoders[i].step(kGoOn);
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
      sides[i].best[step] = std::min(sides[i].best[step], took.count());
      ASSERT_FALSE(frame.is_end);
      sides[i].codes.push_back(frame.codes);
    }
  }
}

TEST(StepTime, RB_04_AStepPaysForWhatIsFilledNotForTheCapacity) {
  const auto model = real_heads();
  std::vector<Timed> sides{Timed(256), Timed(32768)};
  double ratio = 0;
  // Rounds go on until the noise is out. A step that paid for the capacity would cost tens of times
  // the other in every one of them: that is no noise.
  for (int round = 0; round < 20; ++round) {
    one_round(model, sides);
    ASSERT_EQ(sides[0].codes, sides[1].codes);
    ratio = sides[1].median() / sides[0].median();
    if (round >= 2 && ((ratio > 1 / 1.2 && ratio < 1.2) || ratio > 3)) break;
  }
  EXPECT_LT(ratio, 1.2) << "median step with room for 32768 over that with room for 256";
  EXPECT_GT(ratio, 1 / 1.2);
}

}  // namespace
}  // namespace remora::lm
