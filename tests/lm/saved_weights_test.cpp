// Quantised checkpoints: what was saved loads as what was converted, and in place.
#include <gmock/gmock.h>

#include "io/source_set.h"
#include "lm/fast.h"
#include "lm/saved_checkpoint.h"
#include "lm/slow.h"

namespace remora::lm {
namespace {

using test::close;
using test::converted;
using test::converting;
using test::folder_of;
using test::Format;
using test::kFormats;
using test::Recorder;
using test::Saved;
using test::TinyModel;

struct Outcome {
  Recorder seen;
  std::vector<std::vector<int32_t>> frames;
};

Outcome run(const std::shared_ptr<const LanguageModel>& model, const std::vector<int32_t>& prompt) {
  Outcome out;
  DecoderOptions options;
  options.threads = 1;
  Decoder decoder(model, options);
  decoder.set_observer(&out.seen);
  decoder.set_sampling(test::greedy(), 0);
  decoder.prefill(prompt, CancelFlag());
  out.frames = test::run_frames(decoder, 12);
  return out;
}

void expect_equal(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.frames, b.frames);
  ASSERT_EQ(a.seen.logits.size(), b.seen.logits.size());
  for (size_t i = 0; i < a.seen.logits.size(); ++i) {
    EXPECT_TRUE(close(a.seen.logits[i], b.seen.logits[i], 0)) << i;
    EXPECT_TRUE(close(a.seen.hidden[i], b.seen.hidden[i], 0)) << i;
  }
}

TEST(SavedWeights, LoadAsWhatIsConvertedAtLoadToTheBit) {
  for (const auto& [name, key] : {std::pair{"s2pro", "ref_one.b0.prompt"},
                                  {"s1mini", "chinese.prompt"},
                                  {"s1proj", "ref_one.prompt"}}) {
    const TinyModel tiny(name);
    for (const Format& format : kFormats) {
      SCOPED_TRACE(concat(name, " ", weights_name(format.weights), " ", format.group));
      const Saved saved(name, converting(tiny, format));
      for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
        LoadOptions options = converting(tiny, format);
        options.dtype = dtype;
        const auto made = converted(name, options);
        options = tiny.options();
        options.dtype = dtype;
        const auto loaded = saved.load(options);
        EXPECT_EQ(loaded->weights(), format.weights);
        EXPECT_EQ(loaded->int4_group(), format.group);
        EXPECT_TRUE(loaded->weights_were_saved());
        EXPECT_FALSE(made->weights_were_saved());
        EXPECT_EQ(loaded->weight_bytes(), made->weight_bytes());
        expect_equal(run(loaded, tiny.columns(key)), run(made, tiny.columns(key)));
      }
    }
  }
}

// Also where the file can only be read, as through a reader callback.
TEST(SavedWeights, AreUsedWhereTheFileIsMappedAndReadWhereItIsNot) {
  const TinyModel tiny("s2pro");
  const Saved saved("s2pro", converting(tiny, kFormats[2]));
  const std::string config = test::read_file(folder_of("s2pro") + "/config.json");
  const std::string file = test::read_file(saved.file());
  io::SourceSet lent;
  lent.add_memory("config.json", config.data(), config.size(), {});
  lent.add_memory("model.safetensors", file.data(), file.size(), {});
  const auto in_place = LanguageModel::load(lent, tiny.options());
  const auto inside = [&](const void* p) {
    return p >= file.data() && p < file.data() + file.size();
  };
  for (const Block& block : in_place->slow().transformer().blocks()) {
    for (const nn::Linear* matrix : {&block.wqkv, &block.wo, &block.w1, &block.w3, &block.w2}) {
      EXPECT_TRUE(inside(matrix->view().data));
      EXPECT_TRUE(inside(matrix->view().scales));
    }
  }
  EXPECT_TRUE(inside(in_place->slow().parts().head.view().data));
  EXPECT_TRUE(inside(in_place->fast().parts().head.view().data));
  EXPECT_TRUE(inside(in_place->slow().parts().embeddings.const_data_ptr()));

  // At an odd address only bytes may stay where they are.
  const std::string shifted = "x" + file;
  io::SourceSet odd;
  odd.add_memory("config.json", config.data(), config.size(), {});
  odd.add_memory("model.safetensors", shifted.data() + 1, file.size(), {});
  const auto copied = LanguageModel::load(odd, tiny.options());
  expect_equal(run(copied, tiny.columns("ref_one.b0.prompt")),
               run(in_place, tiny.columns("ref_one.b0.prompt")));
}

TEST(SavedWeights, TakeAsMuchAsTheirShapesTell) {
  for (const Format& format : kFormats) {
    const TinyModel tiny("s1proj");
    const Saved saved("s1proj", converting(tiny, format));
    LoadOptions sizes = tiny.options();
    sizes.shapes_only = true;
    EXPECT_EQ(saved.load(sizes)->weight_bytes(), saved.load(tiny.options())->weight_bytes());
  }
}

TEST(SavedWeights, TheFastHeadIsCutToTheLimitOfTheLoadOrOfTheFile) {
  const TinyModel tiny("s2pro");
  const auto prompt = tiny.columns("ref_one.b0.prompt");
  LoadOptions limited = converting(tiny, kFormats[0]);
  limited.residual_limit = 100;
  LoadOptions asked = tiny.options();
  asked.residual_limit = 100;
  const Saved whole("s2pro", converting(tiny, kFormats[0]));
  const auto cut = whole.load(asked);
  EXPECT_EQ(cut->fast().parts().head.out_features(), 100);
  expect_equal(run(cut, prompt), run(converted("s2pro", limited), prompt));
  // What was never saved cannot be sampled.
  EXPECT_EQ(Saved("s2pro", limited).load(tiny.options())->fast().parts().head.out_features(), 100);
}

TEST(WeightErrors, TellOfEveryKindOfMatrixAndShrinkWithTheBits) {
  const TinyModel tiny("s1proj");
  std::vector<std::vector<LayerError>> all;
  for (const Format& format : kFormats) {
    LoadOptions options = converting(tiny, format);
    options.errors = &all.emplace_back();
    converted("s1proj", options);
  }
  std::vector<std::string> kinds;
  for (const LayerError& error : all[0]) kinds.push_back(error.layer);
  EXPECT_THAT(
      kinds, testing::UnorderedElementsAre(
                 "output", "layers.*.attention.wqkv", "layers.*.attention.wo",
                 "layers.*.feed_forward.w1", "layers.*.feed_forward.w3", "layers.*.feed_forward.w2",
                 "fast_project_in", "fast_output", "fast_layers.*.attention.wqkv",
                 "fast_layers.*.attention.wo", "fast_layers.*.feed_forward.w1",
                 "fast_layers.*.feed_forward.w3", "fast_layers.*.feed_forward.w2"));
  for (size_t i = 0; i < kinds.size(); ++i) {
    const nn::QuantisationError &int8 = all[0][i].error, &group32 = all[1][i].error,
                                &group64 = all[2][i].error;
    EXPECT_GT(int8.numbers, 0U);
    EXPECT_EQ(int8.numbers, group32.numbers);
    // Steps of max / 127: uniform rounding errors of 0.29 steps, numbers of a third to a fifth of
    // the largest.
    EXPECT_GT(int8.relative(), 1e-3) << kinds[i];
    EXPECT_LT(int8.relative(), 1.5e-2) << kinds[i];
    EXPECT_LE(int8.largest, 0.5001 / 127 * int8.size) << kinds[i];
    const bool slow = kinds[i].starts_with("layers.");
    if (slow) {
      EXPECT_GT(group32.relative(), 5 * int8.relative()) << kinds[i];
      EXPECT_GT(group64.relative(), group32.relative()) << kinds[i];
    } else {
      EXPECT_EQ(group32.relative(), int8.relative()) << kinds[i];
    }
    EXPECT_EQ(all[1][i].format.group, slow ? 32 : 0) << kinds[i];
  }
}

}  // namespace
}  // namespace remora::lm
