// Several sessions stepped together.
#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <array>

#include "base/error.h"
#include "io/byte_source.h"
#include "lm/tiny_model.h"

namespace remora::lm {
namespace {

using test::close;
using test::Recorder;
using test::TinyModel;

const CancelFlag kGoOn;

// The vectors of one session are reduced in the same order in whatever company; what differs is how
// many of them a kernel takes at once, and a compiler may contract products differently there.
constexpr double kRounding = 3e-5;

struct Party {
  Party(const TinyModel& tiny, const DecoderOptions& options, size_t size,
        std::vector<std::string> keys)
      : seen(size) {
    for (size_t i = 0; i < size; ++i) {
      decoders.emplace_back(tiny.model, options);
      decoders.back().set_observer(&seen[i]);
      decoders.back().set_sampling(test::greedy(), i);
      decoders.back().prefill(tiny.columns(keys[i % keys.size()]), kGoOn);
    }
  }
  std::vector<Decoder::Turn> turns() {
    std::vector<Decoder::Turn> out;
    for (Decoder& decoder : decoders) out.push_back({&decoder, &kGoOn});
    return out;
  }
  std::vector<Recorder> seen;
  std::vector<Decoder> decoders;
};

DecoderOptions options(int threads, nn::SdpaPolicy sdpa = nn::SdpaPolicy::kAuto) {
  DecoderOptions out;
  out.threads = threads;
  out.sdpa = sdpa;
  return out;
}

std::vector<std::string> prompts(const std::string& name) {
  if (name == "s2pro") return {"chinese.b0.prompt", "tags.b0.prompt", "ref_one.b0.prompt"};
  return {"chinese.prompt", "ref_one.prompt"};
}

// Prompts of unequal lengths, so that every lane stands at a position of its own.
TEST(Batch, EqualsSteppingAloneWithinRounding) {
  for (const std::string name : {"s2pro", "s1mini", "s1proj"}) {
    const TinyModel tiny(name);
    for (const auto& [size, threads] :
         {std::pair<size_t, int>{1, 1}, {2, 3}, {3, 1}, {5, 1}, {8, 1}}) {
      Party alone(tiny, options(threads), size, prompts(name));
      Party together(tiny, options(threads), size, prompts(name));
      for (int frame = 0; frame < 6; ++frame) {
        std::vector<Decoder::Turn> turns = together.turns();
        Decoder::step_together(turns);
        for (size_t i = 0; i < size; ++i) {
          ASSERT_FALSE(turns[i].error);
          const Frame expected = alone.decoders[i].step(kGoOn);
          EXPECT_EQ(turns[i].frame.main_token, expected.main_token) << name << " " << size;
          EXPECT_EQ(turns[i].frame.codes, expected.codes) << name << " " << size << " " << i;
          EXPECT_EQ(together.decoders[i].kv_len(), alone.decoders[i].kv_len());
        }
      }
      for (size_t i = 0; i < size; ++i) {
        for (size_t k = 0; k < alone.seen[i].logits.size(); ++k) {
          EXPECT_TRUE(close(together.seen[i].logits[k], alone.seen[i].logits[k], kRounding));
          EXPECT_TRUE(close(together.seen[i].hidden[k], alone.seen[i].hidden[k], kRounding));
        }
      }
    }
  }
}

TEST(Batch, QuantisedWeightsAndBfloat16CachesToo) {
  const TinyModel tiny("s2pro");
  for (const Weights weights : {Weights::kInt8, Weights::kInt4}) {
    LoadOptions load = tiny.options();
    load.weights = weights;
    load.dtype = at::kBFloat16;
    const auto model =
        LanguageModel::load(*io::open_directory(test::data_path("lm/s2pro_tiny")), load);
    std::vector<Decoder> alone, together;
    for (size_t i = 0; i < 6; ++i) {
      for (auto* side : {&alone, &together}) {
        side->emplace_back(model, options(1));
        side->back().set_sampling({}, 40 + i);
        side->back().prefill(tiny.columns(prompts("s2pro")[i % 3]), kGoOn);
      }
    }
    for (int frame = 0; frame < 4; ++frame) {
      std::vector<Decoder::Turn> turns;
      for (Decoder& decoder : together) turns.push_back({&decoder, &kGoOn});
      Decoder::step_together(turns);
      for (size_t i = 0; i < alone.size(); ++i) {
        ASSERT_FALSE(turns[i].error);
        EXPECT_EQ(turns[i].frame.codes, alone[i].step(kGoOn).codes) << i;
      }
    }
  }
}

// Cancelled, without a prompt, at the end of its room: each is its own affair.
TEST(Batch, AnErrorOfOneLeavesTheOthersGoing) {
  const TinyModel tiny("s2pro");
  const auto prompt = tiny.columns("tags.b0.prompt");
  DecoderOptions tight = options(1);
  tight.capacity = static_cast<int64_t>(prompt.size()) / tiny.model->config().column_size();
  Decoder good(tiny.model, options(1)), reference(tiny.model, options(1));
  Decoder cancelled(tiny.model, options(1)), empty(tiny.model, options(1)), full(tiny.model, tight);
  for (Decoder* decoder : {&good, &reference, &cancelled, &full}) {
    decoder->set_sampling(test::greedy(), 0);
    decoder->prefill(prompt, kGoOn);
  }
  CancelFlag stop;
  stop.raise();
  for (int frame = 0; frame < 3; ++frame) {
    std::array turns{Decoder::Turn{&cancelled, &stop}, Decoder::Turn{&empty, &kGoOn},
                     Decoder::Turn{&good, &kGoOn}, Decoder::Turn{&full, &kGoOn}};
    Decoder::step_together(turns);
    EXPECT_FALSE(turns[2].error);
    EXPECT_EQ(turns[2].frame.codes, reference.step(kGoOn).codes);
    for (const auto& [index, status] : {std::pair{0, Status::kCancelled},
                                        {1, Status::kInvalidState},
                                        {3, Status::kContextFull}}) {
      ASSERT_TRUE(turns[index].error) << index;
      try {
        std::rethrow_exception(turns[index].error);
      } catch (const Error& error) {
        EXPECT_EQ(error.status(), status) << error.what();
      }
    }
  }
}

// Where steps go through LibTorch they are taken one after the other, with the same outcome.
TEST(Batch, WithoutTheOneGoStepItIsASequence) {
  const TinyModel tiny("s1mini");
  Party alone(tiny, options(1, nn::SdpaPolicy::kMath), 2, prompts("s1mini"));
  Party together(tiny, options(1, nn::SdpaPolicy::kMath), 2, prompts("s1mini"));
  std::vector<Decoder::Turn> turns = together.turns();
  Decoder::step_together(turns);
  for (size_t i = 0; i < 2; ++i) {
    ASSERT_FALSE(turns[i].error);
    EXPECT_EQ(turns[i].frame.codes, alone.decoders[i].step(kGoOn).codes);
  }
}

// Before, between and behind common steps a session can be stepped alone.
TEST(Batch, AloneAndTogetherMayAlternate) {
  const TinyModel tiny("s2pro");
  Party alone(tiny, options(2), 3, prompts("s2pro"));
  Party mixed(tiny, options(2), 3, prompts("s2pro"));
  for (int frame = 0; frame < 6; ++frame) {
    std::vector<Decoder::Turn> turns = mixed.turns();
    if (frame % 2 == 0) {
      Decoder::step_together(turns);
    } else {
      for (Decoder::Turn& turn : turns) turn.frame = turn.decoder->step(kGoOn);
    }
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(turns[i].frame.codes, alone.decoders[i].step(kGoOn).codes) << frame << " " << i;
    }
  }
}

}  // namespace
}  // namespace remora::lm
