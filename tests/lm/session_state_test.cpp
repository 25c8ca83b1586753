// Reuse of a prefix, going back, cloning, saving and loading.
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "io/memory_source.h"
#include "lm/tiny_model.h"

namespace remora::lm {
namespace {

using test::close;
using test::error_of;
using test::Recorder;
using test::TinyModel;
using Frames = std::vector<std::vector<int32_t>>;

const CancelFlag kGoOn;

const TinyModel& s2() {
  static const TinyModel tiny("s2pro");
  return tiny;
}

std::vector<int32_t> prompt(const std::string& name) { return s2().columns(name + ".b0.prompt"); }

Decoder seeded(uint64_t seed, const DecoderOptions& options = {}) {
  Decoder decoder(s2().model, options);
  decoder.set_sampling({}, seed);
  return decoder;
}

TEST(PrefixReuse, TheCommonPrefixIsReusedWithinRounding) {
  const std::vector<int32_t> first = s2().columns("multi_batch.b0.prompt");
  const std::vector<int32_t> second = s2().columns("multi_batch.b1.prompt");
  Recorder warm_seen, cold_seen;
  Decoder warm(s2().model, {}), cold(s2().model, {});
  warm.set_sampling(test::greedy(), 0);
  cold.set_sampling(test::greedy(), 0);
  warm.prefill(first, kGoOn);
  test::run_frames(warm, 14);
  warm.set_observer(&warm_seen);
  cold.set_observer(&cold_seen);
  // The second turn's prompt repeats the first and 13 of its frames.
  EXPECT_EQ(warm.prefill(second, kGoOn), static_cast<int64_t>(first.size()) / 7 + 13);
  EXPECT_EQ(cold.prefill(second, kGoOn), 0);
  EXPECT_TRUE(close(warm_seen.logits[0], cold_seen.logits[0], 3e-5));
  EXPECT_EQ(test::run_frames(warm, 14), test::run_frames(cold, 14));
}

TEST(PrefixReuse, TheSamePromptAgainRunsItsLastColumnOnly) {
  Decoder decoder = seeded(1);
  const std::vector<int32_t> columns = prompt("ascii");
  decoder.prefill(columns, kGoOn);
  EXPECT_EQ(decoder.prefill(columns, kGoOn), static_cast<int64_t>(columns.size()) / 7 - 1);
  EXPECT_EQ(decoder.prefill(columns, kGoOn, Reuse::kNone), 0);
}

TEST(PrefixReuse, ExactReuseIsBitEqualWhateverRanBefore) {
  // 299 columns, of which one whole chunk of 256 can be kept; prompts short and long between.
  const std::vector<int32_t> voice = prompt("long");
  std::vector<int32_t> longer = voice;
  for (int i = 0; i < 2; ++i) longer.insert(longer.end(), voice.begin(), voice.end());
  const std::vector<std::vector<int32_t>> order{voice, prompt("ascii"), voice,          longer,
                                                voice, longer,          prompt("tags"), longer};
  Decoder used = seeded(5);
  std::vector<int64_t> reused;
  for (const auto& columns : order) {
    Recorder used_seen, fresh_seen;
    Decoder fresh = seeded(5);
    used.set_sampling({}, 5);
    used.set_observer(&used_seen);
    fresh.set_observer(&fresh_seen);
    reused.push_back(used.prefill(columns, kGoOn, Reuse::kExact));
    fresh.prefill(columns, kGoOn);
    EXPECT_EQ(test::run_frames(used, 6), test::run_frames(fresh, 6));
    EXPECT_TRUE(close(used_seen.logits[0], fresh_seen.logits[0], 0));
    used.set_observer(nullptr);
  }
  EXPECT_EQ(reused, (std::vector<int64_t>{0, 0, 0, 256, 256, 256, 0, 0}));
}

TEST(Rewind, FramesFromAnEarlierPositionAreBitEqual) {
  Recorder seen;
  Decoder decoder(s2().model, {});
  decoder.set_observer(&seen);
  decoder.set_sampling(test::greedy(), 0);
  const std::vector<int32_t> columns = prompt("chinese");
  const auto length = static_cast<int64_t>(columns.size()) / 7;
  decoder.prefill(columns, kGoOn);
  const Frames frames = test::run_frames(decoder, 10);
  for (const int64_t back : {10, 7, 1, 0}) {
    decoder.rewind(length + back, kGoOn);
    EXPECT_EQ(decoder.kv_len(), length + back);
    EXPECT_TRUE(close(seen.logits.back(), seen.logits[static_cast<size_t>(back)], 0)) << back;
    const Frames again = test::run_frames(decoder, 10 - back);
    EXPECT_EQ(again, Frames(frames.begin() + back, frames.end())) << back;
  }
}

TEST(Rewind, IntoThePromptEqualsAPrefillOfThatMuch) {
  const std::vector<int32_t> columns = prompt("long");
  for (const int64_t position : {1, 255, 256, 257, 298}) {
    Recorder back_seen, fresh_seen;
    Decoder decoder(s2().model, {}), fresh(s2().model, {});
    decoder.prefill(columns, kGoOn);
    decoder.set_observer(&back_seen);
    fresh.set_observer(&fresh_seen);
    decoder.rewind(position, kGoOn);
    fresh.prefill(std::span(columns).first(static_cast<size_t>(position * 7)), kGoOn);
    EXPECT_TRUE(close(back_seen.logits[0], fresh_seen.logits[0], 0)) << position;
  }
}

TEST(Rewind, KeepsTheRepetitionWindowOfThatPosition) {
  Decoder once = seeded(3), twice = seeded(3);
  for (Decoder* decoder : {&once, &twice}) decoder->prefill(prompt("chinese"), kGoOn);
  test::run_frames(once, 6);
  test::run_frames(twice, 9);
  twice.rewind(once.kv_len(), kGoOn);
  // The stream has gone further in one of them: both start it anew.
  once.set_sampling({}, 8);
  twice.set_sampling({}, 8);
  EXPECT_EQ(test::run_frames(once, 12), test::run_frames(twice, 12));
}

TEST(Rewind, OutsideTheCacheIsRefused) {
  Decoder decoder = seeded(1);
  decoder.prefill(prompt("ascii"), kGoOn);
  for (const int64_t bad : {int64_t{-1}, decoder.kv_len() + 1}) {
    EXPECT_TRUE(error_of([&] {
                  decoder.rewind(bad, kGoOn);
                }).starts_with("REMORA_E_INVALID_ARGUMENT: rewind: position"));
  }
  decoder.rewind(0, kGoOn);
  EXPECT_EQ(decoder.kv_len(), 0);
  EXPECT_TRUE(error_of([&] { decoder.step(kGoOn); }).starts_with("REMORA_E_INVALID_STATE"));
}

TEST(Clone, BothGoOnBitEquallyAndApart) {
  for (const nn::KvMode mode : {nn::KvMode::kActivePrefix, nn::KvMode::kFull, nn::KvMode::kGraph}) {
    DecoderOptions options;
    options.kv_mode = mode;
    options.capacity = 128;
    Decoder original = seeded(4, options);
    original.prefill(prompt("tags"), kGoOn);
    test::run_frames(original, 3);
    Decoder copy = original.clone();
    const Frames frames = test::run_frames(original, 10);
    EXPECT_EQ(test::run_frames(copy, 10), frames);
    original.rewind(3, kGoOn);
    EXPECT_EQ(copy.kv_len(), static_cast<int64_t>(prompt("tags").size()) / 7 + 13);
  }
}

TEST(Clone, OfAnEmptySessionIsUsable) {
  Decoder copy = seeded(1).clone();
  copy.prefill(prompt("ascii"), kGoOn);
  Decoder fresh = seeded(1);
  fresh.prefill(prompt("ascii"), kGoOn);
  EXPECT_EQ(test::run_frames(copy, 5), test::run_frames(fresh, 5));
}

TEST(SaveLoad, ALoadedSessionGoesOnBitEquallyInAnyMode) {
  Decoder original = seeded(6);
  original.prefill(prompt("tags"), kGoOn);
  test::run_frames(original, 5);
  const std::vector<std::byte> saved = original.save();
  const Frames frames = test::run_frames(original, 12);
  Decoder loaded(s2().model, {});
  loaded.prefill(prompt("ascii"), kGoOn);
  loaded.load(saved);
  EXPECT_EQ(test::run_frames(loaded, 12), frames);
  DecoderOptions graph;
  graph.kv_mode = nn::KvMode::kGraph;
  graph.capacity = 256;
  Decoder other_mode(s2().model, graph);
  other_mode.load(saved);
  EXPECT_EQ(other_mode.step(kGoOn).codes,
            std::vector<int32_t>(frames[0].begin() + 1, frames[0].end()));
}

TEST(SaveLoad, AnEmptySessionRoundTrips) {
  Decoder decoder = seeded(2), loaded(s2().model, {});
  loaded.prefill(prompt("ascii"), kGoOn);
  loaded.load(decoder.save());
  EXPECT_EQ(loaded.kv_len(), 0);
  loaded.prefill(prompt("ascii"), kGoOn);
  decoder.prefill(prompt("ascii"), kGoOn);
  EXPECT_EQ(test::run_frames(loaded, 5), test::run_frames(decoder, 5)) << "parameters and stream";
}

TEST(SaveLoad, AnotherModelPrecisionOrVersionIsRefused) {
  Decoder decoder = seeded(2);
  decoder.prefill(prompt("ascii"), kGoOn);
  std::vector<std::byte> saved = decoder.save();
  const TinyModel half("s2pro", at::kBFloat16), other("s1mini");
  for (const auto& model : {half.model, other.model}) {
    Decoder stranger(model, {});
    EXPECT_TRUE(error_of([&] {
                  stranger.load(saved);
                }).starts_with("REMORA_E_FORMAT: saved session: it belongs to another model"));
  }
  saved[4] = std::byte{9};
  EXPECT_TRUE(error_of([&] {
                decoder.load(saved);
              }).starts_with("REMORA_E_FORMAT: saved session: format version 9"));
  saved[0] = std::byte{0};
  EXPECT_TRUE(error_of([&] {
                decoder.load(saved);
              }).starts_with("REMORA_E_FORMAT: saved session: these bytes are something else"));
}

TEST(SaveLoad, DamagedBytesAreRefusedAndNothingChanges) {
  Decoder decoder = seeded(2);
  decoder.prefill(prompt("ascii"), kGoOn);
  const std::vector<std::byte> saved = decoder.save();
  Decoder victim = seeded(2);
  victim.prefill(prompt("ascii"), kGoOn);
  for (const size_t size :
       {size_t{0}, size_t{3}, size_t{23}, size_t{24}, saved.size() / 2, saved.size() - 1}) {
    EXPECT_TRUE(error_of([&] {
                  victim.load(std::span(saved).first(size));
                }).starts_with("REMORA_E_FORMAT: saved session"))
        << size;
  }
  for (size_t at = 24; at < saved.size(); at += saved.size() / 50) {
    std::vector<std::byte> damaged = saved;
    damaged[at] ^= std::byte{0x40};
    EXPECT_TRUE(
        error_of([&] { victim.load(damaged); }).starts_with("REMORA_E_FORMAT: saved session"))
        << at;
  }
  EXPECT_EQ(test::run_frames(victim, 5), test::run_frames(decoder, 5));
}

TEST(SaveLoad, WhatDoesNotFitTheCapacityIsRefused) {
  Decoder decoder = seeded(2);
  decoder.prefill(prompt("ascii"), kGoOn);
  DecoderOptions small;
  small.capacity = 20;
  Decoder tiny_session = seeded(2, small);
  EXPECT_TRUE(
      error_of([&] { tiny_session.load(decoder.save()); }).starts_with("REMORA_E_CONTEXT_FULL"));
}

}  // namespace
}  // namespace remora::lm
