#include "lm/frame_sampler.h"

#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "base/error.h"
#include "lm/given_numbers.h"
#include "support/golden.h"

namespace remora::lm {
namespace {

using test::Golden;
using test::to_vector;

// The reference's S2 model: 832 tokens, semantic 656 .. 783, end 642.
struct S2Fixture {
  S2Fixture() {
    tokens.push_back(642);
    for (int32_t t = 656; t <= 783; ++t) tokens.push_back(t);
    shape.vocab_size = 832;
    shape.codebook_size = 128;
    shape.num_codebooks = 6;
    shape.end_token = 642;
    shape.head_tokens = tokens;
  }
  std::vector<float> head(const at::Tensor& whole) const {
    std::vector<float> out;
    for (const int32_t token : tokens) out.push_back(whole[token].item<float>());
    return out;
  }
  std::vector<int32_t> tokens;
  DrawShape shape;
};

SamplingParams params_of(const nlohmann::json& one) {
  SamplingParams params;
  params.temperature = one.at("temperature");
  params.top_p = one.at("top_p");
  params.top_k = one.at("top_k");
  return params;
}

TEST(FrameSamplerGolden, RB_11_RepeatedTokensAreDrawnAgain) {
  const Golden cases("lm/s2pro_cases.safetensors");
  const nlohmann::json index = test::load_json("lm/s2pro_cases.json");
  const at::Tensor uniforms = cases["ras.u"];  // [draws, vocabulary]
  const S2Fixture fixture;
  for (const auto& one : index.at("ras").at("cases")) {
    FrameSampler sampler(fixture.shape);
    SamplingParams params = params_of(one);
    // Where the likeliest entry alone is kept, both draws give it: the draws are not needed.
    sampler.set(params, 0);
    if (!one.at("window_row0").is_null()) {
      sampler.remember({0});  // a turn's first frame does not enter the window
      for (const int32_t token : one.at("window_row0")) sampler.remember({token});
    }
    test::GivenNumbers numbers(
        {uniforms[one.at("u_normal").get<int64_t>()], uniforms[one.at("u_high").get<int64_t>()]});
    sampler.use_source(&numbers);
    std::vector<float> logits = fixture.head(cases["ras.logits"]);
    const int32_t token = sampler.main_token(logits);
    EXPECT_EQ(token, one.at("result").at(0)) << one.dump();
    EXPECT_EQ(std::max(token - 656, 0), one.at("result").at(1)) << one.dump();
    EXPECT_EQ(numbers.draws(), params.is_greedy() ? 0 : 2);
  }
}

TEST(FrameSamplerGolden, TheEndTokenIsNeverReplaced) {
  const Golden cases("lm/s2pro_cases.safetensors");
  const S2Fixture fixture;
  FrameSampler sampler(fixture.shape);
  sampler.set({}, 1);
  for (int i = 0; i < 11; ++i) sampler.remember({642});
  std::vector<float> logits = fixture.head(cases["ras.logits_im_end"]);
  EXPECT_EQ(sampler.main_token(logits), 642);
}

TEST(FrameSampler, TheFirstFrameOfATurnDoesNotEnterTheWindow) {
  const S2Fixture fixture;
  // Three equal candidates, of which both filters keep the first two: tokens 660 and 661.
  std::vector<float> logits(fixture.tokens.size(), -20.0F);
  for (const size_t entry : {5, 6, 7}) logits[entry] = 0;
  at::Tensor favours_660 = at::full({832}, 0.1), favours_661 = at::full({832}, 0.1);
  favours_660[660] = 0.9;
  favours_661[661] = 0.9;
  const auto token_after = [&](int frames) {
    FrameSampler sampler(fixture.shape);
    for (int i = 0; i < frames; ++i) sampler.remember({660});
    test::GivenNumbers numbers({favours_660, favours_661});
    sampler.use_source(&numbers);
    std::vector<float> copy = logits;
    const int32_t token = sampler.main_token(copy);
    EXPECT_EQ(numbers.draws(), 2) << "the second draw is always taken, used or not";
    return token;
  };
  EXPECT_EQ(token_after(0), 660);
  EXPECT_EQ(token_after(1), 660);
  EXPECT_EQ(token_after(2), 661);
}

TEST(FrameSampler, AnOffWindowKeepsRepeats) {
  const S2Fixture fixture;
  FrameSampler sampler(fixture.shape);
  SamplingParams params;
  params.ras_window = 0;
  sampler.set(params, 5);
  for (int i = 0; i < 20; ++i) sampler.remember({660});
  std::vector<float> logits(fixture.tokens.size(), -20.0F);
  logits[5] = 0;
  EXPECT_EQ(sampler.main_token(logits), 660);
}

// Tokens 0 .. 9 semantic, 10 the end; 2 codebooks of 10 codes.
struct S1Fixture {
  S1Fixture() : tokens(11) {
    std::iota(tokens.begin(), tokens.end(), 0);
    shape.family = Family::kS1;
    shape.vocab_size = 11;
    shape.codebook_size = 10;
    shape.num_codebooks = 2;
    shape.end_token = 10;
    shape.head_tokens = tokens;
    params.greedy = true;
    params.repetition_penalty = 2;
  }
  std::vector<int32_t> tokens;
  DrawShape shape;
  SamplingParams params;
};

TEST(FrameSampler, RB_11_ThePenaltyLooksAtRecentMainTokensAndCodesOfTheSameBook) {
  S1Fixture fixture;
  FrameSampler sampler(fixture.shape);
  sampler.set(fixture.params, 0);
  std::vector<float> logits{0, 1, 0, 3, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(sampler.main_token(logits), 3);
  sampler.remember({3, 3, 7});  // main token 3, code 7 of codebook 1
  logits = {0, 2, 0, 3, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(sampler.main_token(logits), 1) << "3 halved to 1.5";
  logits = {0, 0, 0, 3, 0, 0, 0, 4, 0, 0};
  EXPECT_EQ(sampler.code(1, logits), 3) << "7 halved to 2; the main token 3 is not a code of it";
  logits = {-1, -3, -3, -2, -9, -9, -9, -9, -9, -9, -9};
  for (int i = 0; i < 16; ++i) sampler.remember({0, 0, 0});
  EXPECT_EQ(sampler.main_token(logits), 0) << "-1 doubled to -2, equal to the older 3: first wins";
  logits = {-1.01F, -3, -3, -2, -9, -9, -9, -9, -9, -9, -9};
  EXPECT_EQ(sampler.main_token(logits), 3) << "frame 17 steps back no longer counts";
}

TEST(FrameSampler, SkippedCodesMoveTheStreamAsDrawnOnes) {
  S2Fixture fixture;
  FrameSampler drawn(fixture.shape), skipped(fixture.shape);
  drawn.set({}, 9);
  skipped.set({}, 9);
  for (int64_t codebook = 1; codebook < fixture.shape.num_codebooks; ++codebook) {
    std::vector<float> logits(128, 0.0F);
    drawn.code(codebook, logits);
  }
  skipped.skip_codes();
  EXPECT_EQ(drawn.stream().save(), skipped.stream().save());
}

TEST(SamplingParams, RB_41_EachFieldOutOfRangeIsNamed) {
  const auto message = [](auto change, Family family) -> std::string {
    SamplingParams params;
    change(params);
    try {
      validate(params, family);
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kInvalidArgument);
      return error.text();
    }
    return "";
  };
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float bad : {-1.0F, 2.5F, 100.0F, nan}) {
    EXPECT_TRUE(message([&](auto& p) { p.temperature = bad; }, Family::kS2)
                    .starts_with("sampling: temperature is"))
        << bad;
  }
  for (const float bad : {0.0F, 1.5F, -1.0F, nan}) {
    EXPECT_TRUE(
        message([&](auto& p) { p.top_p = bad; }, Family::kS2).starts_with("sampling: top_p is"))
        << bad;
  }
  for (const int32_t bad : {0, -1}) {
    EXPECT_TRUE(
        message([&](auto& p) { p.top_k = bad; }, Family::kS2).starts_with("sampling: top_k is"))
        << bad;
  }
  EXPECT_TRUE(message([](auto& p) { p.ras_window = -1; }, Family::kS2)
                  .starts_with("sampling: ras_window is"));
  EXPECT_TRUE(message([](auto& p) { p.repetition_penalty = 1.1F; }, Family::kS2)
                  .starts_with("sampling: repetition_penalty is"));
  EXPECT_TRUE(message([&](auto& p) { p.repetition_penalty = nan; }, Family::kS1)
                  .starts_with("sampling: repetition_penalty is"));
}

TEST(SamplingParams, RB_41_EdgesAreAllowed) {
  for (const float temperature : {0.0F, 1e-8F, 1e-4F, 2.0F}) {
    for (const float top_p : {1e-9F, 1.0F}) {
      for (const int32_t top_k : {1, 832, 1 << 30}) {
        SamplingParams params{temperature, top_p, top_k, 1.0F, 10, false};
        EXPECT_NO_THROW(validate(params, Family::kS2));
      }
    }
  }
}

}  // namespace
}  // namespace remora::lm
