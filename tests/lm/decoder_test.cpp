#include "lm/decoder.h"

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <thread>

#include "io/memory_source.h"
#include "lm/tiny_model.h"

namespace remora::lm {
namespace {

using test::close;
using test::error_of;
using test::Recorder;
using test::TinyModel;

const CancelFlag kGoOn;

const TinyModel& s2() {
  static const TinyModel tiny("s2pro");
  return tiny;
}

TEST(Decoder, KvLengthGrowsByOneAStep) {
  Decoder decoder(s2().model, {});
  decoder.set_sampling(test::greedy(), 0);
  const std::vector<int32_t> prompt = s2().columns("ascii.b0.prompt");
  decoder.prefill(std::span(prompt).first(3 * 7), kGoOn);
  EXPECT_EQ(decoder.kv_len(), 3);
  decoder.step(kGoOn);
  EXPECT_EQ(decoder.kv_len(), 4);
  decoder.step(kGoOn);
  EXPECT_EQ(decoder.kv_len(), 5);
}

TEST(Decoder, APromptThatFillsTheCapacityWorksAndOneMoreColumnIsRefused) {
  const std::vector<int32_t> prompt = s2().columns("ascii.b0.prompt");  // 34 columns
  DecoderOptions options;
  options.capacity = 36;
  Decoder decoder(s2().model, options);
  decoder.set_sampling(test::greedy(), 0);
  decoder.prefill(prompt, kGoOn);
  decoder.step(kGoOn);
  decoder.step(kGoOn);
  EXPECT_EQ(decoder.kv_len(), 36);
  EXPECT_EQ(error_of([&] { decoder.step(kGoOn); }),
            "REMORA_E_CONTEXT_FULL: KV cache: 37 positions are needed, 36 is the most it can hold");
  EXPECT_EQ(decoder.kv_len(), 36);
  options.capacity = 33;
  Decoder small(s2().model, options);
  EXPECT_TRUE(error_of([&] { small.prefill(prompt, kGoOn); }).starts_with("REMORA_E_CONTEXT_FULL"));
  EXPECT_EQ(small.kv_len(), 0);
}

TEST(Decoder, CapacityOutsideTheModelsRangeIsRefused) {
  for (const int64_t capacity : {-1, 2561}) {
    DecoderOptions options;
    options.capacity = capacity;
    EXPECT_TRUE(error_of([&] {
                  Decoder(s2().model, options);
                }).starts_with("REMORA_E_INVALID_ARGUMENT: KV cache: capacity"))
        << capacity;
  }
}

TEST(Decoder, WrongPromptsAreRefusedNamingTheSpot) {
  Decoder decoder(s2().model, {});
  const std::vector<int32_t> good = s2().columns("ascii.b0.prompt");
  EXPECT_TRUE(error_of([&] {
                decoder.prefill({}, kGoOn);
              }).starts_with("REMORA_E_INVALID_ARGUMENT: prompt: 0 integers"));
  EXPECT_TRUE(error_of([&] {
                decoder.prefill(std::span(good).first(13), kGoOn);
              }).starts_with("REMORA_E_INVALID_ARGUMENT: prompt: 13 integers"));
  for (const auto& [at, value, text] : std::vector<std::tuple<size_t, int32_t, std::string>>{
           {7, 832, "column 1, row 0 is 832, expected 0 to 831"},
           {9, 128, "column 1, row 2 is 128, expected 0 to 127"},
           {0, -1, "column 0, row 0 is -1, expected 0 to 831"}}) {
    std::vector<int32_t> bad = good;
    bad[at] = value;
    EXPECT_EQ(error_of([&] { decoder.prefill(bad, kGoOn); }),
              "REMORA_E_INVALID_ARGUMENT: prompt: " + text);
  }
}

TEST(Decoder, SteppingWithoutAPromptOrBehindTheEndIsRefused) {
  Decoder decoder(s2().model, {});
  decoder.set_sampling(test::greedy(), 0);
  EXPECT_TRUE(error_of([&] { decoder.step(kGoOn); }).starts_with("REMORA_E_INVALID_STATE"));
  decoder.prefill(s2().columns("speaker_single.b0.prompt"), kGoOn);
  const auto frames = test::run_frames(decoder, 10);
  EXPECT_EQ(frames.size(), 4U);
  EXPECT_EQ(frames.back(), (std::vector<int32_t>{642}));
  EXPECT_TRUE(error_of([&] { decoder.step(kGoOn); }).starts_with("REMORA_E_INVALID_STATE"));
  decoder.prefill(s2().columns("ascii.b0.prompt"), kGoOn);
  EXPECT_EQ(decoder.step(kGoOn).codes.size(), 6U) << "usable again";
}

TEST(Decoder, AnEndRightBehindThePromptStopsAtOnce) {
  // The reference's run ends with its fourth frame: as a prompt, the first three lead to the end.
  std::vector<int32_t> prompt = s2().columns("speaker_single.b0.prompt");
  const std::vector<int32_t> frames = s2().columns("speaker_single.b0.frames");
  prompt.insert(prompt.end(), frames.begin(), frames.begin() + 3 * 7);
  Decoder decoder(s2().model, {});
  decoder.set_sampling(test::greedy(), 0);
  decoder.prefill(prompt, kGoOn);
  const Frame frame = decoder.step(kGoOn);
  EXPECT_TRUE(frame.is_end);
  EXPECT_TRUE(frame.codes.empty()) << "nothing to speak";
  EXPECT_EQ(decoder.kv_len(), static_cast<int64_t>(prompt.size()) / 7);
}

TEST(Decoder, ACancelledPrefillStopsAndCanBeRepeated) {
  CancelFlag stop;
  stop.raise();
  Decoder decoder(s2().model, {}), fresh(s2().model, {});
  const std::vector<int32_t> prompt = s2().columns("long.b0.prompt");
  EXPECT_TRUE(error_of([&] { decoder.prefill(prompt, stop); }).starts_with("REMORA_E_CANCELLED"));
  EXPECT_TRUE(error_of([&] { decoder.step(kGoOn); }).starts_with("REMORA_E_INVALID_STATE"));
  for (Decoder* d : {&decoder, &fresh}) {
    d->set_sampling(test::greedy(), 0);
    d->prefill(prompt, kGoOn);
  }
  EXPECT_EQ(test::run_frames(decoder, 8), test::run_frames(fresh, 8));
}

TEST(Decoder, ACancelledStepNeedsANewPrefillAndTheCacheStaysRight) {
  CancelFlag stop;
  Decoder decoder(s2().model, {}), fresh(s2().model, {});
  decoder.set_sampling(test::greedy(), 0);
  fresh.set_sampling(test::greedy(), 0);
  decoder.prefill(s2().columns("ascii.b0.prompt"), kGoOn);
  decoder.step(kGoOn);
  stop.raise();
  EXPECT_TRUE(error_of([&] { decoder.step(stop); }).starts_with("REMORA_E_CANCELLED"));
  const std::vector<int32_t> columns(decoder.columns().begin(), decoder.columns().end());
  EXPECT_EQ(decoder.prefill(columns, kGoOn), 34) << "all but the last column are reused";
  fresh.prefill(columns, kGoOn);
  EXPECT_EQ(test::run_frames(decoder, 8), test::run_frames(fresh, 8));
}

TEST(Decoder, RB_40_TheSameSeedRepeatsAndAnotherDiffers) {
  Decoder decoder(s2().model, {});
  const auto run = [&](uint64_t seed) {
    decoder.set_sampling({}, seed);
    decoder.prefill(s2().columns("chinese.b0.prompt"), kGoOn);
    return test::run_frames(decoder, 12);
  };
  const auto first = run(42);
  EXPECT_EQ(run(42), first);
  EXPECT_NE(run(43), first);
  EXPECT_NE(run(42 + (uint64_t{1} << 32)), first);
}

TEST(Decoder, RB_40_TwoSessionsOnTwoThreadsEqualEachAlone) {
  const auto run = [](uint64_t seed) {
    Decoder decoder(s2().model, {});
    decoder.set_sampling({}, seed);
    decoder.prefill(s2().columns("tags.b0.prompt"), kGoOn);
    return test::run_frames(decoder, 20);
  };
  const auto alone_1 = run(1), alone_2 = run(2);
  std::vector<std::vector<int32_t>> both_1, both_2;
  std::thread one([&] { both_1 = run(1); }), two([&] { both_2 = run(2); });
  one.join();
  two.join();
  EXPECT_EQ(both_1, alone_1);
  EXPECT_EQ(both_2, alone_2);
}

// At bf16 the reference itself moves by 0.17 from its float32 logits of size 7.
TEST(Decoder, Bfloat16StaysNearFloat32) {
  const TinyModel half("s2pro", at::kBFloat16);
  const std::vector<int32_t> prompt = s2().columns("ref_one.b0.prompt");
  Recorder wide, narrow;
  for (const auto& [model, seen] : {std::pair{s2().model, &wide}, std::pair{half.model, &narrow}}) {
    Decoder decoder(model, {});
    decoder.set_observer(seen);
    decoder.set_sampling(test::greedy(), 0);
    decoder.prefill(prompt, kGoOn);
    decoder.step(kGoOn);
  }
  EXPECT_TRUE(close(narrow.logits[0], wide.logits[0], 0.25));
  EXPECT_EQ(narrow.logits[0].argmax().item<int64_t>(), wide.logits[0].argmax().item<int64_t>());
}

}  // namespace
}  // namespace remora::lm
