#include "lm/weights.h"

#include <gtest/gtest.h>

#include "base/log.h"
#include "io/checkpoint.h"
#include "io/memory_source.h"
#include "lm/builder.h"
#include "lm/fast.h"
#include "lm/slow.h"
#include "lm/tiny_model.h"

namespace remora::lm {
namespace {

using test::error_of;

io::StateDict stored(const std::string& model) {
  return own_names(
      io::read_checkpoint(*io::open_directory(test::data_path("lm/" + model + "_tiny"))));
}

// A dict of empty tensors under these names, in this order.
io::StateDict named(std::initializer_list<const char*> names) {
  io::StateDict dict;
  for (const char* name : names) {
    dict.insert(name, {test::memory_source("file", ""), 0, at::kFloat, {0}, {}});
  }
  return dict;
}

std::vector<std::string> keys(const io::StateDict& dict) {
  std::vector<std::string> out;
  for (const auto& [name, tensor] : dict.tensors()) out.push_back(name);
  return out;
}

TEST(OwnNames, S2PrefixesAreReplaced) {
  const auto dict = own_names(
      named({"text_model.model.embeddings.weight", "text_model.model.layers.0.ffn_norm.weight",
             "audio_decoder.codebook_embeddings.weight", "audio_decoder.layers.1.ffn_norm.weight",
             "audio_decoder.output.weight", "other.weight"}));
  EXPECT_EQ(keys(dict),
            (std::vector<std::string>{"codebook_embeddings.weight", "embeddings.weight",
                                      "fast_layers.1.ffn_norm.weight", "fast_output.weight",
                                      "layers.0.ffn_norm.weight", "other.weight"}));
}

TEST(OwnNames, TrainerPrefixGoesEverywhereIfTheFirstNameHasIt) {
  EXPECT_EQ(keys(own_names(named({"model.norm.weight", "a.model.b", "x.audio_encoder.w"}))),
            (std::vector<std::string>{"a.b", "norm.weight"}));
  EXPECT_EQ(keys(own_names(named({"norm.weight", "a.model.b", "audio_projector.w"}))),
            (std::vector<std::string>{"a.model.b", "norm.weight"}));
}

std::string load_error(const io::StateDict& dict) {
  const test::TinyModel tiny("s2pro");
  const LoadOptions options = tiny.options();
  return error_of([&] {
    const auto source = checkpoint_weights(dict, options);
    source->weight("layers.0.attention.wo.weight", {64, 128});
    source->weight("norm.weight", {64});
    source->finish();
  });
}

TEST(CheckpointWeights, RB_47_MissingAndMisshapenTensorsAreListed) {
  EXPECT_EQ(load_error(stored("s2pro")), "");
  const auto broken = stored("s2pro").renamed([](const std::string& name) {
    if (name == "norm.weight") return std::string();
    if (name == "layers.0.attention.wo.weight") return std::string("layers.0.attention.x.weight");
    return name == "layers.0.ffn_norm.weight" ? std::string("layers.0.attention.wo.weight") : name;
  });
  const std::string error = load_error(broken);
  EXPECT_NE(error.find("norm.weight [64] is missing"), std::string::npos) << error;
  EXPECT_NE(error.find("layers.0.attention.wo.weight is [64], expected [64,128]"),
            std::string::npos)
      << error;
}

// A checkpoint with another config.json.
class OtherConfig final : public io::FileSet {
 public:
  OtherConfig(const io::FileSet& files, std::string config)
      : files_(files), config_(std::move(config)) {}
  bool contains(std::string_view name) const override { return files_.contains(name); }
  std::shared_ptr<const io::ByteSource> open(std::string_view name) const override {
    return name == "config.json" ? test::memory_source("config.json", config_) : files_.open(name);
  }
  std::string describe() const override { return files_.describe(); }
  std::string display_name(std::string_view name) const override { return std::string(name); }

 private:
  const io::FileSet& files_;
  std::string config_;
};

void keep_line(void* user, int32_t /*level*/, const char* utf8, size_t length) {
  static_cast<std::string*>(user)->append(utf8, length).append("\n");
}

TEST(CheckpointWeights, RB_47_AForeignPrefixIsAnErrorAndATensorTooManyIsNoted) {
  const std::string error =
      load_error(stored("s2pro").renamed([](const std::string& name) { return "module." + name; }));
  EXPECT_NE(error.find("norm.weight [64] is missing"), std::string::npos) << error;
  io::StateDict with_spare = stored("s2pro");
  with_spare.insert("spare.weight", *with_spare.find("norm.weight"));
  std::string lines;
  set_log_sink(keep_line, &lines, LogLevel::kDebug);
  EXPECT_EQ(load_error(with_spare), "");
  set_log_sink(nullptr, nullptr, LogLevel::kError);
  EXPECT_NE(lines.find("tensor spare.weight is not used"), std::string::npos);
}

TEST(CheckpointWeights, ProgressEndsAtOneAndCancelStops) {
  const test::TinyModel tiny("s1mini");
  LoadOptions options = tiny.options();
  std::vector<float> seen;
  options.progress = [&](float fraction) { seen.push_back(fraction); };
  const auto files = io::open_directory(test::data_path("lm/s1mini_tiny"));
  LanguageModel::load(*files, options);
  ASSERT_FALSE(seen.empty());
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 1.0F);
  CancelFlag stop;
  stop.raise();
  options.cancel = &stop;
  EXPECT_TRUE(error_of([&] {
                LanguageModel::load(*files, options);
              }).starts_with("REMORA_E_CANCELLED: loading the language model"));
}

TEST(LanguageModel, TokensThatDoNotFitTheConfigAreRefused) {
  const test::TinyModel tiny("s2pro");
  const auto files = io::open_directory(test::data_path("lm/s2pro_tiny"));
  const auto error = [&](auto change) {
    LoadOptions options = tiny.options();
    change(options);
    return error_of([&] { LanguageModel::load(*files, options); });
  };
  const std::string start = "REMORA_E_INVALID_ARGUMENT: ";
  EXPECT_TRUE(error([](auto& o) { o.semantic_end = 832; }).starts_with(start + "semantic tokens"));
  EXPECT_TRUE(
      error([](auto& o) { o.semantic_end = 700; }).starts_with(start + "the tokenizer has"));
  EXPECT_TRUE(error([](auto& o) { o.end_token = 660; }).starts_with(start + "end token 660"));
  EXPECT_TRUE(error([](auto& o) { o.residual_limit = -1; }).starts_with(start + "residual_limit"));
}

TEST(LanguageModel, SizesThatNoTensorConfirmsTakeNoMemory) {
  // Each of these alone would be terabytes, in 8 bits as well.
  const auto files = io::open_directory(test::data_path("lm/s2pro_tiny"));
  const nlohmann::json config = test::load_json("lm/s2pro_tiny/config.json");
  for (const std::string key : {"dim", "intermediate_size", "head_dim"}) {
    nlohmann::json wild = config;
    for (const std::string part : {"text_config", "audio_decoder_config"})
      wild[part][key] = 1 << 20;
    for (const Weights weights : {Weights::kAsDtype, Weights::kInt8, Weights::kInt4}) {
      LoadOptions options = test::TinyModel("s2pro").options();
      options.weights = weights;
      const OtherConfig changed(*files, wild.dump());
      const std::string error = error_of([&] { LanguageModel::load(changed, options); });
      EXPECT_TRUE(error.starts_with("REMORA_E_FORMAT: ")) << key << ": " << error;
      EXPECT_NE(error.find("is config.json from the same checkpoint?"), std::string::npos) << error;
    }
  }
}

TEST(LanguageModel, ResidualCodesAreCutToTheLimitAndInS1ToTheFirst1024) {
  EXPECT_EQ(test::TinyModel("s1mini").model->fast().parts().head.out_features(), 1024);
  const test::TinyModel tiny("s2pro");
  EXPECT_EQ(tiny.model->fast().parts().head.out_features(), 128);
  LoadOptions options = tiny.options();
  options.residual_limit = 100;
  const auto cut =
      LanguageModel::load(*io::open_directory(test::data_path("lm/s2pro_tiny")), options);
  EXPECT_EQ(cut->fast().parts().head.out_features(), 100);
}

TEST(LanguageModel, TablesStayInTheCheckpointsPrecision) {
  const test::TinyModel tiny("s2pro");
  EXPECT_EQ(tiny.model->slow().parts().embeddings.scalar_type(), at::kBFloat16);
  EXPECT_EQ(tiny.model->slow().parts().norm.scalar_type(), at::kFloat);
}

TEST(LanguageModel, FingerprintTellsWeightsAndPrecisionsApart) {
  const test::TinyModel wide("s2pro"), again("s2pro"), half("s2pro", at::kBFloat16);
  const test::TinyModel other("s1mini");
  EXPECT_EQ(wide.model->fingerprint(), again.model->fingerprint());
  EXPECT_NE(wide.model->fingerprint(), half.model->fingerprint());
  EXPECT_NE(wide.model->fingerprint(), other.model->fingerprint());
}

TEST(RandomWeights, TheSameSeedGivesTheSameModelAndItRuns) {
  const test::TinyModel tiny("s1proj");
  const auto frames = [&](uint64_t seed) {
    const auto model = LanguageModel::random(tiny.model->config(), tiny.options(), seed);
    Decoder decoder(model, {});
    decoder.set_sampling(test::greedy(), 0);
    decoder.prefill(tiny.columns("ascii.prompt"), CancelFlag());
    return test::run_frames(decoder, 4);
  };
  EXPECT_EQ(frames(1), frames(1));
  EXPECT_NE(frames(1), frames(2));
}

// The fused query, key and value rows of each attention stored as three tensors.
io::StateDict with_separate_projections(const io::StateDict& dict, const LmConfig& config) {
  io::StateDict apart;
  for (const auto& [name, tensor] : dict.tensors()) {
    const size_t at = name.find("wqkv");
    if (at == std::string::npos) {
      apart.insert(name, tensor);
      continue;
    }
    const StackConfig& stack = name.starts_with("fast_") ? config.fast : config.slow;
    const int64_t q = stack.heads * stack.head_dim, kv = stack.kv_heads * stack.head_dim;
    int64_t row = 0;
    for (const auto& [part, rows] :
         {std::pair{"wq", q}, std::pair{"wk", kv}, std::pair{"wv", kv}}) {
      io::StoredTensor piece = tensor;
      piece.offset += static_cast<uint64_t>(row * stack.dim * 2);  // bf16
      piece.shape[0] = rows;
      apart.insert(std::string(name).replace(at, 4, part), piece);
      row += rows;
    }
  }
  return apart;
}

TEST(LanguageModel, SeparateProjectionsAreFused) {
  const test::TinyModel tiny("s1proj");
  const LmConfig& config = tiny.model->config();
  const LoadOptions options = tiny.options();
  const io::StateDict apart = with_separate_projections(stored("s1proj"), config);
  EXPECT_FALSE(apart.contains("layers.0.attention.wqkv.weight"));
  const auto source = checkpoint_weights(apart, options);
  SlowModel slow = build_slow(config, options, *source);
  FastModel fast = build_fast(config, options, *source);
  source->finish();
  const auto fused = std::make_shared<LanguageModel>(config, options, std::move(slow),
                                                     std::move(fast), source->fingerprint());
  std::vector<std::vector<std::vector<int32_t>>> frames;
  for (const std::shared_ptr<const LanguageModel>& model :
       {std::shared_ptr<const LanguageModel>(fused), tiny.model}) {
    Decoder decoder(model, {});
    decoder.set_sampling(test::greedy(), 0);
    decoder.prefill(tiny.columns("chinese.prompt"), CancelFlag());
    frames.push_back(test::run_frames(decoder, 8));
  }
  EXPECT_EQ(frames[0], frames[1]);
}

}  // namespace
}  // namespace remora::lm
