// Guards against losing speed by accident: ratios of steps on the same machine in the same minute,
// with bounds that only a fault exceeds. docs/performance.md has the figures themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>

#include "lm/decoder.h"
#include "lm/language_model.h"
#include "lm/made_up_model.h"

namespace remora::lm {
namespace {

const CancelFlag kGoOn;

// About 60 million weights in the slow stack, more than a core's own caches hold.
std::shared_ptr<const LanguageModel> model_of(Weights weights) {
  return test::made_up_model({4, 1024, 16, 8, 64, 4096, true, false, false},
                             {1, 256, 4, 2, 64, 256, false, false, false}, 2, weights);
}

std::vector<int32_t> prompt() { return std::vector<int32_t>(3 * 32, 1); }  // 32 columns

Decoder decoder_of(const std::shared_ptr<const LanguageModel>& model, nn::SdpaPolicy sdpa,
                   uint64_t seed = 0) {
  DecoderOptions options;
  options.threads = 1;
  options.sdpa = sdpa;
  Decoder decoder(model, options);
  decoder.set_sampling({}, seed);
  decoder.prefill(prompt(), kGoOn);
  return decoder;
}

// Takes a step and tells whether it was a whole one: one that draws the end token is not.
using Step = std::function<bool()>;

double seconds_of(const Step& step) {
  for (;;) {
    const auto start = std::chrono::steady_clock::now();
    const bool whole = step();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (whole) return took.count();
  }
}

// The best time of `a` over that of `b`, both in turn. Rounds go on until the ratio is within the
// bound: other work on the machine only ever adds time, to either. The best of many is what it
// costs.
double ratio_within(double bound, const Step& a, const Step& b) {
  double best_a = 1e9, best_b = 1e9;
  for (int round = 0; round < 200; ++round) {
    best_a = std::min(best_a, seconds_of(a));
    best_b = std::min(best_b, seconds_of(b));
    if (round >= 10 && best_a / best_b < bound) break;
  }
  return best_a / best_b;
}

// These made-up weights end now and then; the next prompt follows.
bool step(Decoder& decoder) {
  if (!decoder.step(kGoOn).is_end) return true;
  decoder.prefill(prompt(), kGoOn);
  return false;
}

TEST(SpeedGuard, QuantisedStepsReadLessAndTakeLess) {
  Decoder bf16 = decoder_of(model_of(Weights::kAsDtype), nn::SdpaPolicy::kAuto);
  Decoder int8 = decoder_of(model_of(Weights::kInt8), nn::SdpaPolicy::kAuto);
  // About 0.5 where memory bounds both.
  EXPECT_LT(ratio_within(
                0.95, [&] { return step(int8); }, [&] { return step(bf16); }),
            0.95);
}

TEST(SpeedGuard, TheOneGoStepIsNoSlowerThanLibTorchs) {
  const auto model = model_of(Weights::kAsDtype);
  Decoder own = decoder_of(model, nn::SdpaPolicy::kAuto);
  Decoder libtorch = decoder_of(model, nn::SdpaPolicy::kMath);
  EXPECT_LT(ratio_within(
                1.2, [&] { return step(own); }, [&] { return step(libtorch); }),
            1.2);
}

TEST(SpeedGuard, FourSessionsTogetherTakeLessThanFourAlone) {
  const auto model = model_of(Weights::kInt8);
  std::vector<Decoder> together;
  for (uint64_t i = 0; i < 4; ++i) together.push_back(decoder_of(model, nn::SdpaPolicy::kAuto, i));
  Decoder alone = decoder_of(model, nn::SdpaPolicy::kAuto);
  const auto all = [&] {
    std::vector<Decoder::Turn> turns;
    for (Decoder& decoder : together) turns.push_back({&decoder, &kGoOn});
    Decoder::step_together(turns);
    bool whole = true;
    for (Decoder::Turn& turn : turns) {
      EXPECT_FALSE(turn.error);
      if (!turn.frame.is_end) continue;
      turn.decoder->prefill(prompt(), kGoOn);
      whole = false;
    }
    return whole;
  };
  // About 1.3 with AVX-512; processors with narrower registers are bound by arithmetic sooner.
  EXPECT_LT(ratio_within(3.6, all, [&] { return step(alone); }), 3.6);
}

}  // namespace
}  // namespace remora::lm
