#include "lm/sampler.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/error.h"
#include "lm/given_numbers.h"
#include "support/golden.h"

namespace remora::lm {
namespace {

using test::close;
using test::Golden;
using test::to_vector;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr int32_t kNoLimit = std::numeric_limits<int32_t>::max();

at::Tensor whole_table(const Kept& kept, int64_t size) {
  at::Tensor out = at::zeros({size});
  for (size_t i = 0; i < kept.indices.size(); ++i) out[kept.indices[i]] = kept.probabilities[i];
  return out;
}

TEST(SamplerGolden, S2ProbabilitiesAndPicks) {
  const Golden cases("lm/s2pro_cases.safetensors");
  const nlohmann::json index = test::load_json("lm/s2pro_cases.json");
  Sampler sampler;
  for (const auto& vector : index.at("sampler").at("vectors")) {
    const at::Tensor logits = cases[vector.at("logits")];
    const Filter rule{vector.at("temperature"), vector.at("top_p"), vector.at("top_k")};
    const std::vector<float> flat = to_vector(logits);
    const at::Tensor ours = whole_table(sampler.filter(flat, rule, "test"), logits.numel());
    // Exponentials of another library.
    EXPECT_TRUE(close(ours, cases[vector.at("probs")], 1e-6)) << vector.dump();
    const at::Tensor uniforms = cases[vector.at("u")];  // [draws, entries]
    const std::vector<int32_t> picked = vector.at("picked_for_each_u_row");
    for (size_t row = 0; row < picked.size(); ++row) {
      test::GivenNumbers numbers({uniforms[static_cast<int64_t>(row)]});
      EXPECT_EQ(sampler.sample(flat, rule, {logits.numel(), {}}, numbers, "test"), picked[row])
          << vector.dump();
    }
  }
}

TEST(SamplerGolden, S1ProbabilitiesAndPicksWithPenalty) {
  const Golden cases("lm/s1mini_cases.safetensors");
  const nlohmann::json index = test::load_json("lm/s1mini_cases.json");
  Sampler sampler;
  for (const auto& vector : index.at("sampler").at("vectors")) {
    const at::Tensor logits = cases[vector.at("logits")];
    std::vector<float> flat = to_vector(logits);
    if (!vector.at("previous_tokens").is_null()) {
      penalise(flat, vector.at("previous_tokens"), vector.at("repetition_penalty"));
    }
    const Filter rule{vector.at("temperature"), vector.at("top_p"), kNoLimit};
    const at::Tensor ours = whole_table(sampler.filter(flat, rule, "test"), logits.numel());
    EXPECT_TRUE(close(ours, cases[vector.at("probs")], 1e-6)) << vector.dump();
    const at::Tensor exponentials = cases[vector.at("q")];  // [draws, entries]
    const std::vector<int32_t> picked = vector.at("picked_for_each_q_row");
    for (size_t row = 0; row < picked.size(); ++row) {
      test::GivenNumbers numbers({at::exp(-exponentials[static_cast<int64_t>(row)])});
      EXPECT_EQ(sampler.sample(flat, rule, {logits.numel(), {}}, numbers, "test"), picked[row])
          << vector.dump();
    }
  }
}

TEST(Sampler, TheEntryThatCrossesTopPGoesButTheFirstStays) {
  Sampler sampler;
  const std::vector<float> half{0, 0, -kInf};  // one half each
  EXPECT_EQ(sampler.filter(half, {1, 0.4F, kNoLimit}, "test").indices, (std::vector<int32_t>{0}));
  EXPECT_EQ(sampler.filter(half, {1, 0.9F, kNoLimit}, "test").indices, (std::vector<int32_t>{0}));
  EXPECT_EQ(sampler.filter(half, {1, 1.0F, kNoLimit}, "test").indices,
            (std::vector<int32_t>{0, 1}));
}

TEST(Sampler, TopKBelowTwoKeepsTheMostLikelyAlone) {
  Sampler sampler;
  const std::vector<float> logits{1, 3, 2};
  for (const int32_t k : {0, 1}) {
    EXPECT_EQ(sampler.filter(logits, {1, 1, k}, "test").indices, (std::vector<int32_t>{1})) << k;
  }
  EXPECT_EQ(sampler.filter(logits, {1, 1, 100}, "test").indices, (std::vector<int32_t>{0, 1, 2}));
}

TEST(Sampler, RB_41_EqualLogitsKeepTheirOrder) {
  Sampler sampler;
  const std::vector<float> equal(7, 0.5F);
  EXPECT_EQ(sampler.filter(equal, {1, 1, 3}, "test").indices, (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(Sampler::argmax(equal, "test"), 0);
}

TEST(Sampler, RB_41_ExtremeTemperaturesStayFinite) {
  Sampler sampler;
  const std::vector<float> logits{1000, 999, -1000};
  for (const float temperature : {1e-8F, 1e-4F, 100.0F}) {
    const Kept& kept = sampler.filter(logits, {temperature, 1, kNoLimit}, "test");
    double sum = 0;
    for (const float p : kept.probabilities) sum += p;
    EXPECT_NEAR(sum, 1, 1e-6) << temperature;
  }
}

TEST(Sampler, RB_41_NotANumberInfinityAndNothingLeftAreNumericErrors) {
  Sampler sampler;
  const std::vector<std::vector<float>> broken{
      {0, NAN, 1}, {NAN, 0}, {0, kInf}, {-kInf, -kInf}, {}};
  for (const auto& logits : broken) {
    for (const bool greedy : {true, false}) {
      try {
        greedy ? Sampler::argmax(logits, "slow model")
               : sampler.filter(logits, {}, "slow model").indices.front();
        ADD_FAILURE() << "no error for " << logits.size() << " logits";
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), Status::kNumeric);
        EXPECT_TRUE(error.text().starts_with("slow model: ")) << error.text();
      }
    }
  }
  const std::vector<float> good{0, 1};
  EXPECT_EQ(sampler.filter(good, {1, 1, 1}, "test").indices.front(), 1);
}

TEST(Sampler, DrawsFollowTheDistribution) {
  Sampler sampler;
  Mt19937 stream(11);
  const std::vector<float> logits{std::log(0.5F), std::log(0.3F), std::log(0.2F)};
  std::vector<int> counts(3);
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    ++counts[static_cast<size_t>(
        sampler.sample(logits, {1, 1, kNoLimit}, {3, {}}, stream, "test"))];
  }
  // Five standard deviations of a count are about 350.
  EXPECT_NEAR(counts[0], 0.5 * kDraws, 350);
  EXPECT_NEAR(counts[1], 0.3 * kDraws, 350);
}

}  // namespace
}  // namespace remora::lm
