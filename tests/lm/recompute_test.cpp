// Cached steps against passes over everything before them with no cache behind: the slow model over
// all columns, and the fast model over all codes of the frame.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <gtest/gtest.h>

#include "lm/fast.h"
#include "lm/slow.h"
#include "lm/tiny_model.h"
#include "nn/rope.h"

namespace remora::lm {
namespace {

using test::close;
using test::Recorder;
using test::TinyModel;

const CancelFlag kGoOn;

// The stack over inputs x [n, dim] at positions 0 .. n - 1.
at::Tensor whole_pass(const Transformer& stack, const at::Tensor& x, double rope_base) {
  const int64_t n = x.size(0);
  const auto kv =
      nn::make_kv_cache(nn::KvMode::kActivePrefix, stack.kv_shape(at::kFloat, at::kCPU), n, n);
  nn::SdpaReport report;
  const nn::KvRows rows{0, n, {}};
  const at::Tensor rope = nn::rope_table(0, n, stack.config().head_dim, rope_base);
  return stack.forward(x, {*kv, rows, rope, nn::SdpaPolicy::kMath, report, nullptr});
}

SlowOutput recomputed(const LanguageModel& model, std::span<const int32_t> columns) {
  const at::Tensor x = model.slow().embed(columns, at::kFloat, at::kCPU);
  return model.slow().output(whole_pass(model.slow().transformer(), x, model.config().rope_base));
}

// The likeliest frame behind the slow outputs `fresh`: main token and codes; the end token alone.
std::vector<int32_t> recomputed_frame(const LanguageModel& model, const SlowOutput& fresh) {
  const FastModel& fast = model.fast();
  const auto best = static_cast<size_t>(fresh.logits.argmax().item<int64_t>());
  std::vector<int32_t> frame{model.slow().head_tokens()[best]};
  if (frame[0] == model.end_token()) return frame;
  frame.push_back(frame[0] - model.semantic_begin());
  std::vector<at::Tensor> inputs{fresh.hidden};  // each [1, fast dim]
  for (int64_t codebook = 1; codebook < model.config().num_codebooks; ++codebook) {
    inputs.push_back(fast.embed(frame.back(), at::kFloat, at::kCPU));
    const at::Tensor logits = fast.output(
        whole_pass(fast.transformer(), at::cat(inputs), model.config().rope_base));  // [codes]
    frame.push_back(static_cast<int32_t>(logits.argmax().item<int64_t>()));
  }
  return frame;
}

// One session on its way, its steps compared one by one.
class Checked {
 public:
  Checked(const TinyModel& tiny, const std::string& prompt)
      : model_(*tiny.model), decoder_(tiny.model, {}) {
    decoder_.set_sampling(test::greedy(), 0);
    decoder_.set_observer(&seen_);
    decoder_.prefill(tiny.columns(prompt), kGoOn);
  }
  // Nothing more once the end token was drawn.
  void step() {
    if (ended_) return;
    const SlowOutput fresh = recomputed(model_, decoder_.columns());
    // Rounding: the reference's own cached and uncached runs differ by 1.2e-5.
    EXPECT_TRUE(close(seen_.hidden.back(), fresh.hidden.reshape({-1}), 3e-5)) << frames.size();
    EXPECT_TRUE(close(seen_.logits.back(), fresh.logits, 3e-5)) << frames.size();
    const Frame frame = decoder_.step(kGoOn);
    ended_ = frame.is_end;
    frames.push_back({frame.main_token});
    frames.back().insert(frames.back().end(), frame.codes.begin(), frame.codes.end());
    EXPECT_EQ(frames.back(), recomputed_frame(model_, fresh)) << frames.size();
  }

  std::vector<std::vector<int32_t>> frames;

 private:
  const LanguageModel& model_;
  Recorder seen_;
  Decoder decoder_;
  bool ended_ = false;
};

TEST(Recompute, RB_06_EveryStepEqualsRecomputingTheWholePrefix) {
  for (const std::string model : {"s2pro", "s1mini"}) {
    const TinyModel tiny(model);
    Checked run(tiny, model == "s2pro" ? "chinese.b0.prompt" : "chinese.prompt");
    for (int i = 0; i < 50; ++i) run.step();
    EXPECT_EQ(run.frames.size(), 50U);
  }
}

// Side by side over one model, which is how requests share it here.
TEST(Recompute, RB_06_ThreeSessionsInTurnStepAsEachAlone) {
  const TinyModel tiny("s2pro");
  Checked alone(tiny, "chinese.b0.prompt"), first(tiny, "ascii.b0.prompt"),
      second(tiny, "chinese.b0.prompt"), third(tiny, "mixed.b0.prompt");
  for (int i = 0; i < 25; ++i) alone.step();
  for (int i = 0; i < 25; ++i) {
    for (Checked* run : {&first, &second, &third}) run->step();
  }
  EXPECT_EQ(second.frames, alone.frames);
  EXPECT_NE(first.frames, third.frames);
}

}  // namespace
}  // namespace remora::lm
