// Decode steps in one go on the CPU, and quantised weights.
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include "io/byte_source.h"
#include "lm/tiny_model.h"
#include "nn/allocation_count.h"

namespace remora::lm {
namespace {

using test::close;
using test::Recorder;
using test::TinyModel;

const CancelFlag kGoOn;

struct Outcome {
  Recorder seen;
  std::vector<std::vector<int32_t>> frames;
  nn::SdpaPolicy step = nn::SdpaPolicy::kAuto;
};

Outcome run(const std::shared_ptr<const LanguageModel>& model, const DecoderOptions& options,
            const std::vector<int32_t>& prompt, int64_t frames) {
  Outcome out;
  Decoder decoder(model, options);
  decoder.set_observer(&out.seen);
  decoder.set_sampling(test::greedy(), 0);
  decoder.prefill(prompt, kGoOn);
  out.frames = test::run_frames(decoder, frames);
  out.step = decoder.stats().sdpa_step;
  return out;
}

DecoderOptions with(nn::SdpaPolicy sdpa, int threads = 1) {
  DecoderOptions options;
  options.sdpa = sdpa;
  options.threads = threads;
  return options;
}

TEST(OneGoStep, EqualsTheStepThroughLibTorchWithinRounding) {
  for (const auto& [name, key] : {std::pair{"s2pro", "chinese.b0.prompt"},
                                  {"s1mini", "chinese.prompt"},
                                  {"s1proj", "chinese.prompt"}}) {
    const TinyModel tiny(name);
    const auto prompt = tiny.columns(key);
    const Outcome one_go = run(tiny.model, with(nn::SdpaPolicy::kAuto), prompt, 30);
    const Outcome libtorch = run(tiny.model, with(nn::SdpaPolicy::kMath), prompt, 30);
    EXPECT_EQ(one_go.step, nn::SdpaPolicy::kBuiltin);
    EXPECT_EQ(libtorch.step, nn::SdpaPolicy::kMath);
    EXPECT_EQ(one_go.frames, libtorch.frames) << name;
    for (size_t i = 0; i < one_go.seen.logits.size(); ++i) {
      EXPECT_TRUE(close(one_go.seen.logits[i], libtorch.seen.logits[i], 3e-5)) << name << " " << i;
      EXPECT_TRUE(close(one_go.seen.hidden[i], libtorch.seen.hidden[i], 3e-5)) << name << " " << i;
    }
  }
}

TEST(OneGoStep, NumbersDoNotDependOnTheThreads) {
  const TinyModel tiny("s2pro");
  const auto prompt = tiny.columns("tags.b0.prompt");
  const Outcome one = run(tiny.model, with(nn::SdpaPolicy::kAuto, 1), prompt, 6);
  for (const int threads : {2, 3, 7}) {
    const Outcome many = run(tiny.model, with(nn::SdpaPolicy::kAuto, threads), prompt, 6);
    EXPECT_EQ(many.frames, one.frames);
    for (size_t i = 0; i < one.seen.logits.size(); ++i) {
      EXPECT_TRUE(close(many.seen.logits[i], one.seen.logits[i], 0)) << threads << " " << i;
    }
  }
}

TEST(OneGoStep, AllocatesNoTensorMemoryAfterTheFirstSteps) {
  const TinyModel tiny("s2pro");
  DecoderOptions options = with(nn::SdpaPolicy::kAuto);
  options.capacity = 256;
  Decoder decoder(tiny.model, options);
  decoder.set_sampling({}, 7);
  decoder.prefill(tiny.columns("chinese.b0.prompt"), kGoOn);
  test::run_frames(decoder, 2);
  const test::AllocationCount count;
  test::run_frames(decoder, 50);
  EXPECT_EQ(count.allocations(), 0);
}

std::shared_ptr<const LanguageModel> quantised(const TinyModel& tiny, const std::string& name,
                                               Weights weights) {
  LoadOptions options = tiny.options();
  options.weights = weights;
  return LanguageModel::load(*io::open_directory(test::data_path("lm/" + name + "_tiny")), options);
}

// Random weights are the hardest to round: real ones have structure. 8 bits move these logits, of
// size 7, by less than bf16's own 0.17; 4 bits by about ten times that.
TEST(QuantisedWeights, LogitsStayNearTheFullOnes) {
  const TinyModel tiny("s2pro");
  const auto prompt = tiny.columns("ref_one.b0.prompt");
  const Outcome full = run(tiny.model, with(nn::SdpaPolicy::kAuto), prompt, 1);
  for (const auto& [weights, tolerance] :
       {std::pair{Weights::kInt8, 0.25}, std::pair{Weights::kInt4, 3.0}}) {
    const auto model = quantised(tiny, "s2pro", weights);
    const Outcome one_go = run(model, with(nn::SdpaPolicy::kAuto), prompt, 1);
    EXPECT_TRUE(close(one_go.seen.logits[0], full.seen.logits[0], tolerance));
    // Another main token leads the fast model elsewhere; 8 bits choose the same one here.
    if (weights == Weights::kInt8) {
      EXPECT_EQ(one_go.frames[0][0], full.frames[0][0]);
      EXPECT_TRUE(close(one_go.seen.fast[0][0], full.seen.fast[0][0], tolerance));
    }
    EXPECT_LT(model->weight_bytes(), tiny.model->weight_bytes());
  }
}

TEST(QuantisedWeights, PrefillAndStepUseTheSameNumbers) {
  const TinyModel tiny("s1proj");
  const auto prompt = tiny.columns("ref_one.prompt");
  for (const Weights weights : {Weights::kInt8, Weights::kInt4}) {
    const auto model = quantised(tiny, "s1proj", weights);
    const Outcome one_go = run(model, with(nn::SdpaPolicy::kAuto), prompt, 8);
    const Outcome libtorch = run(model, with(nn::SdpaPolicy::kMath), prompt, 8);
    for (size_t i = 0; i < 3; ++i) {
      // The step's 16-bit activations carry 1.6e-5 of each group's largest number.
      EXPECT_TRUE(close(one_go.seen.logits[i], libtorch.seen.logits[i], 2e-3)) << i;
    }
  }
}

TEST(QuantisedWeights, TellThemselvesApartInTheFingerprint) {
  const TinyModel tiny("s1proj");
  const auto int8 = quantised(tiny, "s1proj", Weights::kInt8);
  const auto int4 = quantised(tiny, "s1proj", Weights::kInt4);
  EXPECT_NE(int8->fingerprint(), tiny.model->fingerprint());
  EXPECT_NE(int8->fingerprint(), int4->fingerprint());
}

}  // namespace
}  // namespace remora::lm
