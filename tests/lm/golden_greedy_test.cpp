// Greedy runs against the reference: frames equal, logits and hidden vectors within rounding.
#include <ATen/TensorOperators.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "lm/slow.h"
#include "lm/tiny_model.h"

namespace remora::lm {
namespace {

using test::close;
using test::Recorder;
using test::TinyModel;

// Sums in another order than the reference's; its own variants differ by up to 1.2e-5 at logits of
// size 7.
constexpr double kRounding = 3e-5;

struct Batch {
  std::string prefix;  // of the reference tensors
  std::string frames;  // key
  int64_t steps;
};

std::vector<Batch> batches(const TinyModel& tiny) {
  std::vector<Batch> out;
  for (const auto& one : tiny.cases.at("cases")) {
    const std::string name = one.at("name");
    if (!one.contains("batches")) {
      out.push_back({name, one.at("frames"), one.at("steps")});
      continue;
    }
    for (const auto& batch : one.at("batches")) {
      const std::string frames = batch.at("frames");
      out.push_back({frames.substr(0, frames.rfind('.')), frames, batch.at("steps")});
    }
  }
  return out;
}

// The end frame's codes mean nothing and are not computed: only its main token counts.
std::vector<std::vector<int32_t>> expected_frames(const TinyModel& tiny, const std::string& key) {
  auto frames = test::split_columns(tiny.columns(key), tiny.model->config().column_size());
  if (frames.back().front() == tiny.model->end_token()) frames.back().resize(1);
  return frames;
}

// Rows `begin ...` of the reference's whole logits that the cut head keeps.
at::Tensor head_logits(const TinyModel& tiny, const at::Tensor& whole) {
  std::vector<int64_t> ids;
  for (const int32_t id : tiny.model->slow().head_tokens()) ids.push_back(id);
  return whole.index_select(-1, at::tensor(ids));
}

void expect_outputs(const TinyModel& tiny, const Batch& batch, const Recorder& seen) {
  const auto steps = static_cast<size_t>(batch.steps);
  ASSERT_GE(seen.logits.size(), steps) << batch.prefix;
  const std::vector<at::Tensor> logits(seen.logits.begin(), seen.logits.begin() + steps);
  const std::vector<at::Tensor> hidden(seen.hidden.begin(), seen.hidden.begin() + steps);
  if (tiny.tensors.has(batch.prefix + ".slow_logits")) {
    const at::Tensor whole = tiny.tensors[batch.prefix + ".slow_logits"];
    EXPECT_TRUE(close(at::stack(logits), head_logits(tiny, whole), kRounding)) << batch.prefix;
  }
  EXPECT_TRUE(close(at::stack(hidden), tiny.tensors[batch.prefix + ".slow_hidden"], kRounding))
      << batch.prefix;
  if (!tiny.tensors.has(batch.prefix + ".fast_logits")) return;
  const at::Tensor fast = tiny.tensors[batch.prefix + ".fast_logits"];  // [steps, codebooks, codes]
  for (size_t i = 0; i < seen.fast.size(); ++i) {
    const at::Tensor ours = at::stack(seen.fast[i]);  // codebooks 1 and up, the codes sampled from
    const at::Tensor theirs =
        fast[static_cast<int64_t>(i)].narrow(0, 1, ours.size(0)).narrow(1, 0, ours.size(1));
    EXPECT_TRUE(close(ours, theirs, kRounding)) << batch.prefix << " frame " << i;
  }
}

class GoldenGreedy : public testing::TestWithParam<std::string> {};

TEST_P(GoldenGreedy, FramesEqualLogitsAndHiddenWithinRounding) {
  const TinyModel tiny(GetParam());
  const CancelFlag cancel;
  for (const Batch& batch : batches(tiny)) {
    Recorder seen;
    Decoder decoder(tiny.model, {});
    decoder.set_observer(&seen);
    decoder.set_sampling(test::greedy(), 0);
    EXPECT_EQ(decoder.prefill(tiny.columns(batch.prefix + ".prompt"), cancel), 0);
    EXPECT_EQ(test::run_frames(decoder, batch.steps), expected_frames(tiny, batch.frames))
        << batch.prefix;
    expect_outputs(tiny, batch, seen);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, GoldenGreedy, testing::Values("s2pro", "s1mini", "s1proj"),
                         [](const auto& info) { return info.param; });

TEST(GoldenGreedyLong, HundredFramesEqual) {
  const TinyModel tiny("s2pro");
  const CancelFlag cancel;
  for (const auto& run : tiny.cases.at("greedy_long")) {
    Decoder decoder(tiny.model, {});
    decoder.set_sampling(test::greedy(), 0);
    const std::string name = run.at("case");
    decoder.prefill(tiny.columns(name + ".b0.prompt"), cancel);
    EXPECT_EQ(test::run_frames(decoder, run.at("max_new_tokens")),
              expected_frames(tiny, run.at("frames")))
        << name;
  }
}

TEST(GoldenGreedyPenalty, S1FramesEqualUnderTheReferencesHistory) {
  for (const std::string name : {"s1mini", "s1proj"}) {
    const TinyModel tiny(name);
    const CancelFlag cancel;
    SamplingParams params = test::greedy();
    params.repetition_penalty = 1.5F;
    DecoderOptions options;
    options.s1_penalty_parity = true;
    for (const Batch& batch : batches(tiny)) {
      Decoder decoder(tiny.model, options);
      decoder.set_sampling(params, 0);
      decoder.prefill(tiny.columns(batch.prefix + ".prompt"), cancel);
      EXPECT_EQ(test::run_frames(decoder, batch.steps),
                expected_frames(tiny, batch.prefix + ".frames_rp1.5"))
          << name << " " << batch.prefix;
    }
  }
}

using Columns = std::vector<std::vector<int32_t>>;

// The prompt of batch `index` for a run whose earlier frames differ from the reference's greedy
// ones: the reference prompt with those frames put in their place.
Columns next_prompt(const TinyModel& tiny, const std::string& name, int index,
                    const Columns& prompt, const Columns& frames) {
  const int64_t stride = tiny.model->config().column_size();
  const auto reference = [&](int i, const std::string& what) {
    return test::split_columns(tiny.columns(name + ".b" + std::to_string(i) + "." + what), stride);
  };
  const Columns whole = reference(index, "prompt");
  const size_t spoken = reference(index - 1, "frames").size() - 1;
  const size_t tail = reference(index - 1, "prompt").size() + spoken;
  Columns out = prompt;
  out.insert(out.end(), frames.begin(), frames.end() - 1);  // the last frame is dropped there
  out.insert(out.end(), whole.begin() + static_cast<int64_t>(tail), whole.end());
  return out;
}

std::vector<int32_t> joined(const Columns& columns) {
  std::vector<int32_t> flat;
  for (const auto& column : columns) flat.insert(flat.end(), column.begin(), column.end());
  return flat;
}

TEST(GoldenSeeded, S2FramesEqualForTheSameSeedOverAllBatches) {
  const TinyModel tiny("s2pro");
  const CancelFlag cancel;
  for (const auto& run : tiny.cases.at("seeded").at("runs")) {
    SamplingParams params;
    params.temperature = run.at("temperature");
    params.top_p = run.at("top_p");
    params.top_k = run.at("top_k");
    Decoder decoder(tiny.model, {});
    decoder.set_sampling(params, run.at("seed"));
    const std::string name = run.at("case");
    Columns prompt =
        test::split_columns(tiny.columns(name + ".b0.prompt"), tiny.model->config().column_size());
    Columns frames;
    int index = 0;
    for (const std::string key : run.at("frames_per_batch")) {
      if (index > 0) prompt = next_prompt(tiny, name, index, prompt, frames);
      decoder.prefill(joined(prompt), cancel);
      frames = test::run_frames(decoder, run.at("max_new_tokens"));
      EXPECT_EQ(frames, expected_frames(tiny, key)) << key;
      ++index;
    }
  }
}

}  // namespace
}  // namespace remora::lm
