#include "lm/config.h"

#include <gtest/gtest.h>

#include <string>

#include "io/memory_source.h"
#include "support/golden.h"

namespace remora::lm {
namespace {

using test::error_of;
using test::memory_source;

LmConfig parse(const std::string& json) {
  return parse_lm_config(*memory_source("config.json", json));
}

TEST(LmConfig, FlatDefaultsAreThoseOfTheFormat) {
  const LmConfig config = parse(R"({"model_type": "dual_ar"})");
  EXPECT_EQ(config.family, Family::kS1);
  EXPECT_EQ(config.vocab_size, 32000);
  EXPECT_EQ(config.slow.layers, 32);
  EXPECT_EQ(config.slow.heads, 32);
  EXPECT_EQ(config.slow.kv_heads, 32);
  EXPECT_EQ(config.slow.dim, 4096);
  EXPECT_EQ(config.slow.head_dim, 64);
  EXPECT_EQ(config.slow.intermediate, 11008) << "8 * 4096 / 3 rounded up to a multiple of 256";
  EXPECT_EQ(config.max_seq_len, 2048);
  EXPECT_EQ(config.rope_base, 10000);
  EXPECT_EQ(config.norm_eps, 1e-5);
  EXPECT_EQ(config.codebook_size, 160);
  EXPECT_EQ(config.num_codebooks, 4);
  EXPECT_EQ(config.fast.layers, 4);
  EXPECT_TRUE(config.tied_head);
  EXPECT_FALSE(config.slow.qk_norm);
  EXPECT_FALSE(config.scale_codebook_embeddings);
  EXPECT_FALSE(config.norm_fast_input);
}

TEST(LmConfig, NullAndMissingHeadSizeDiffer) {
  const std::string sizes = R"("model_type": "dual_ar", "dim": 64, "n_head": 4)";
  EXPECT_EQ(parse("{" + sizes + "}").slow.head_dim, 64);
  EXPECT_EQ(parse("{" + sizes + R"(, "head_dim": null})").slow.head_dim, 16);
}

TEST(LmConfig, FastSizesAreInheritedAndExplicitFalseIsKept) {
  const std::string slow = R"("model_type": "dual_ar", "dim": 64, "n_head": 4, "n_local_heads": 2,
    "head_dim": 32, "intermediate_size": 96, "attention_qk_norm": true, "attention_o_bias": true)";
  const LmConfig inherits = parse("{" + slow + R"(, "fast_dim": null, "fast_n_head": 0})");
  EXPECT_EQ(inherits.fast.dim, 64);
  EXPECT_EQ(inherits.fast.heads, 4);
  EXPECT_EQ(inherits.fast.kv_heads, 2);
  EXPECT_EQ(inherits.fast.head_dim, 32);
  EXPECT_EQ(inherits.fast.intermediate, 96);
  EXPECT_TRUE(inherits.fast.qk_norm);
  EXPECT_TRUE(inherits.fast.o_bias);
  const LmConfig own = parse("{" + slow + R"(, "fast_dim": 48, "fast_n_head": 3,
    "fast_n_local_heads": 1, "fast_head_dim": 16, "fast_attention_qk_norm": false,
    "fast_attention_o_bias": null, "unknown": [1]})");
  EXPECT_EQ(own.fast.dim, 48);
  EXPECT_EQ(own.fast.heads, 3);
  EXPECT_EQ(own.fast.kv_heads, 1);
  EXPECT_EQ(own.fast.head_dim, 16);
  EXPECT_FALSE(own.fast.qk_norm);
  EXPECT_TRUE(own.fast.o_bias);
}

TEST(LmConfig, NestedLayoutForcesTheS2Rules) {
  const LmConfig config = read_lm_config(*io::open_directory(test::data_path("lm/s2pro_tiny")));
  EXPECT_EQ(config.family, Family::kS2);
  EXPECT_EQ(config.slow.layers, 3);
  EXPECT_EQ(config.fast.layers, 2);
  EXPECT_TRUE(config.slow.qk_norm);
  EXPECT_FALSE(config.fast.qk_norm);
  EXPECT_TRUE(config.scale_codebook_embeddings);
  EXPECT_TRUE(config.norm_fast_input);
  EXPECT_EQ(config.codebook_size, 128);
  EXPECT_EQ(config.num_codebooks, 6);
  EXPECT_EQ(config.semantic_begin, 656);
  EXPECT_EQ(config.semantic_end, 783);
}

TEST(LmConfig, OtherModelsAreRefusedByName) {
  EXPECT_EQ(error_of([] { parse(R"({"model_type": "llama"})"); }),
            "REMORA_E_UNSUPPORTED: config.json: model_type is 'llama', expected fish_qwen3_omni or "
            "dual_ar");
  EXPECT_TRUE(error_of([] {
                parse(R"({"model_type": "naive"})");
              }).starts_with("REMORA_E_UNSUPPORTED: config.json: model_type is naive"));
  EXPECT_TRUE(error_of([] {
                parse(R"({"model_type": "dual_ar", "use_moe": true})");
              }).starts_with("REMORA_E_UNSUPPORTED: config.json: use_moe is true"));
  EXPECT_TRUE(
      error_of([] { parse("{}"); }).starts_with("REMORA_E_FORMAT: config.json: model_type"));
}

TEST(LmConfig, WildSizesAreRefusedByKey) {
  const auto error = [](const std::string& fields) {
    return error_of([&] { parse(R"({"model_type": "dual_ar", )" + fields + "}"); });
  };
  const std::string start = "REMORA_E_FORMAT: config.json: ";
  EXPECT_TRUE(error(R"("dim": -4)").starts_with(start + "dim is -4"));
  EXPECT_TRUE(error(R"("n_layer": 1e30)").starts_with(start + "n_layer is"));
  EXPECT_TRUE(error(R"("vocab_size": 0)").starts_with(start + "vocab_size is 0"));
  EXPECT_TRUE(error(R"("dim": 100, "n_head": 3)").starts_with(start + "dim is 100"));
  EXPECT_TRUE(error(R"("n_local_heads": 5)").starts_with(start + "n_local_heads is 5"));
  EXPECT_TRUE(error(R"("head_dim": 63)").starts_with(start + "head_dim is 63"));
  EXPECT_TRUE(error(R"("rope_base": 0)").starts_with(start + "rope_base is 0"));
  EXPECT_TRUE(error(R"("tie_word_embeddings": 1)").starts_with(start + "tie_word_embeddings is"));
}

}  // namespace
}  // namespace remora::lm
