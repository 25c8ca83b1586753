// The decoder in every KV mode and with every attention backend of this device.
#include <ATen/TensorOperators.h>
#include <ATen/ops/isfinite.h>
#include <ATen/ops/softmax.h>
#include <gtest/gtest.h>

#include "io/memory_source.h"
#include "lm/tiny_model.h"
#include "nn/attention_probe.h"

namespace remora::lm {
namespace {

using nn::KvMode;
using nn::SdpaPolicy;
using test::close;
using test::error_of;
using test::Recorder;
using test::TinyModel;

const CancelFlag kGoOn;

constexpr KvMode kModes[] = {KvMode::kActivePrefix, KvMode::kFull, KvMode::kGraph};

DecoderOptions options(KvMode mode, SdpaPolicy sdpa, int64_t capacity = 512) {
  DecoderOptions out;
  out.capacity = capacity;
  out.kv_mode = mode;
  out.sdpa = sdpa;
  return out;
}

// The first `columns` of a prompt, then greedy frames; everything the models put out.
std::vector<std::vector<int32_t>> run(const TinyModel& tiny, const DecoderOptions& how,
                                      std::span<const int32_t> prompt, int64_t frames,
                                      Recorder* seen = nullptr) {
  Decoder decoder(tiny.model, how);
  decoder.set_observer(seen);
  decoder.set_sampling(test::greedy(), 0);
  decoder.prefill(prompt, kGoOn);
  return test::run_frames(decoder, frames);
}

std::vector<std::string> prompt_keys(const TinyModel& tiny) {
  std::vector<std::string> keys;
  for (const auto& one : tiny.cases.at("cases")) {
    if (one.contains("prompt")) keys.push_back(one.at("prompt"));
    if (!one.contains("batches")) continue;
    for (const auto& batch : one.at("batches")) keys.push_back(batch.at("prompt"));
  }
  return keys;
}

class EveryModeAndBackend : public testing::TestWithParam<std::string> {};

TEST_P(EveryModeAndBackend, GivesTheSameGreedyFramesOnAllReferencePrompts) {
  const TinyModel tiny(GetParam());
  for (const std::string& key : prompt_keys(tiny)) {
    const std::vector<int32_t> prompt = tiny.columns(key);
    const auto expected = run(tiny, options(KvMode::kActivePrefix, SdpaPolicy::kAuto), prompt, 8);
    for (const KvMode mode : kModes) {
      for (const SdpaPolicy sdpa : {SdpaPolicy::kMath, SdpaPolicy::kAuto, SdpaPolicy::kFlash}) {
        EXPECT_EQ(run(tiny, options(mode, sdpa), prompt, 8), expected)
            << key << " mode " << static_cast<int>(mode) << " " << nn::sdpa_name(sdpa);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModeAndBackend, testing::Values("s2pro", "s1mini", "s1proj"),
                         [](const auto& info) { return info.param; });

TEST(KvRegression3, PrefillStepStepIsThreeFourFiveAndEqualsTheFullCache) {
  const TinyModel tiny("s2pro");
  const std::vector<int32_t> all = tiny.columns("ref_one.b0.prompt");
  const auto prompt = std::span(all).first(3 * 7);
  std::vector<Recorder> seen(3);
  std::vector<std::vector<std::vector<int32_t>>> frames;
  for (size_t i = 0; i < 3; ++i) {
    Decoder decoder(tiny.model, options(kModes[i], SdpaPolicy::kAuto, 64));
    decoder.set_observer(&seen[i]);
    SamplingParams top_1;
    top_1.top_k = 1;
    decoder.set_sampling(top_1, 0);
    std::vector<int64_t> lengths;
    decoder.prefill(prompt, kGoOn);
    lengths.push_back(decoder.kv_len());
    frames.emplace_back();
    for (int step = 0; step < 2; ++step) {
      frames.back().push_back(decoder.step(kGoOn).codes);
      lengths.push_back(decoder.kv_len());
    }
    EXPECT_EQ(lengths, (std::vector<int64_t>{3, 4, 5}));
    EXPECT_EQ(frames.back()[0].size(), 6U);
  }
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(frames[i], frames[0]);
    for (size_t step = 0; step < 3; ++step) {
      const at::Tensor& ours = seen[i].logits[step];
      const at::Tensor& first = seen[0].logits[step];
      EXPECT_TRUE(at::isfinite(ours).all().item<bool>());
      EXPECT_TRUE(close(at::softmax(ours, 0), at::softmax(first, 0), 1e-6));
      EXPECT_EQ(ours.argmax().item<int64_t>(), first.argmax().item<int64_t>());
    }
    for (const auto& frame : seen[i].fast) {
      for (const at::Tensor& logits : frame) {
        EXPECT_TRUE(at::isfinite(logits).all().item<bool>());
      }
    }
  }
}

TEST(KvRegression3, RB_04_TheSlowAndTheFastModelAttendToTheFilledPrefixOnly) {
  const TinyModel tiny("s2pro");
  const std::vector<int32_t> all = tiny.columns("ref_one.b0.prompt");
  Decoder decoder(tiny.model, options(KvMode::kActivePrefix, SdpaPolicy::kFlash, 64));
  decoder.set_sampling(test::greedy(), 0);
  test::AttentionProbe probe;
  decoder.prefill(std::span(all).first(3 * 7), kGoOn);
  decoder.step(kGoOn);
  std::vector<int64_t> lengths;
  for (const auto& call : probe.calls) lengths.push_back(call.k.size(-2));
  // Three slow layers over the prompt; two fast layers for codes 1 .. 5, of which the first pass
  // takes two positions; three slow layers for the frame.
  EXPECT_EQ(lengths, (std::vector<int64_t>{3, 3, 3, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 4, 4, 4}));
}

// bf16 is not bit-equal between modes: sums round differently. The contract is closeness at the
// size of bf16's own error (the reference's bf16 run is 0.17 from its float32 run) and the same
// first choices.
TEST(KvRegression4, Bfloat16ModesAgreeWithinToleranceAndInTheFirstSteps) {
  const TinyModel tiny("s2pro", at::kBFloat16);
  const std::vector<int32_t> prompt = tiny.columns("ref_one.b0.prompt");
  std::vector<Recorder> seen(3);
  for (size_t i = 0; i < 3; ++i) {
    run(tiny, options(kModes[i], SdpaPolicy::kAuto), prompt, 2, &seen[i]);
    for (size_t step = 0; step < 3; ++step) {
      EXPECT_TRUE(close(seen[i].logits[step], seen[0].logits[step], 0.2)) << i << " " << step;
      EXPECT_EQ(seen[i].logits[step].argmax().item<int64_t>(),
                seen[0].logits[step].argmax().item<int64_t>());
    }
  }
}

TEST(KvRegression5, NothingIsCapturedWhereThereAreNoGraphsAndOncePerModelElsewhere) {
  const TinyModel tiny("s2pro");
  Decoder decoder(tiny.model, options(KvMode::kGraph, SdpaPolicy::kAuto));
  decoder.set_sampling(test::greedy(), 0);
  decoder.prefill(tiny.columns("chinese.b0.prompt"), kGoOn);
  test::run_frames(decoder, 20);
  EXPECT_EQ(decoder.stats().graph_captures, 0U) << "this device runs the same steps uncaptured";
}

TEST(DecoderStats, BackendsOfPrefillAndStepAreToldApart) {
  const TinyModel tiny("s2pro");
  const std::vector<int32_t> prompt = tiny.columns("ascii.b0.prompt");
  for (const SdpaPolicy sdpa : {SdpaPolicy::kMath, SdpaPolicy::kFlash}) {
    Decoder decoder(tiny.model, options(KvMode::kActivePrefix, sdpa));
    decoder.set_sampling(test::greedy(), 0);
    EXPECT_EQ(decoder.stats().sdpa_prefill, SdpaPolicy::kAuto) << "none ran yet";
    decoder.prefill(prompt, kGoOn);
    EXPECT_EQ(decoder.stats().sdpa_prefill, sdpa);
    EXPECT_EQ(decoder.stats().sdpa_step, SdpaPolicy::kAuto);
    decoder.step(kGoOn);
    EXPECT_EQ(decoder.stats().sdpa_step, sdpa);
  }
  Decoder graph(tiny.model, options(KvMode::kGraph, SdpaPolicy::kAuto));
  graph.set_sampling(test::greedy(), 0);
  graph.prefill(prompt, kGoOn);
  graph.step(kGoOn);
  EXPECT_EQ(graph.stats().sdpa_step, SdpaPolicy::kMath) << "the default of captured steps";
}

TEST(Decoder, ABackendThatThisDeviceLacksIsRefusedAtOnce) {
  const TinyModel tiny("s2pro");
  for (const SdpaPolicy sdpa : {SdpaPolicy::kEfficient, SdpaPolicy::kCudnn}) {
    EXPECT_TRUE(error_of([&] {
                  Decoder(tiny.model, options(KvMode::kActivePrefix, sdpa));
                }).starts_with("REMORA_E_UNSUPPORTED: attention backend"));
  }
}

TEST(Decoder, RB_01_CacheMemoryFollowsTheRequest) {
  const TinyModel tiny("s2pro");
  Decoder growing(tiny.model, {});
  EXPECT_EQ(growing.stats().kv_bytes, 0U);
  const uint64_t row = tiny.model->kv_bytes_per_position();
  EXPECT_EQ(row, 2U * 3 * 2 * 32 * 4) << "keys and values, layers, heads, size, float32";
  growing.prefill(tiny.columns("ascii.b0.prompt"), kGoOn);
  EXPECT_EQ(growing.stats().kv_bytes, 256 * row);
  Decoder fixed(tiny.model, options(KvMode::kActivePrefix, SdpaPolicy::kAuto, 512));
  EXPECT_EQ(fixed.stats().kv_bytes, 512 * row);
}

}  // namespace
}  // namespace remora::lm
