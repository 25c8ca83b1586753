// Inside the slow model: embedding and each half of each block against the reference.
#include "lm/slow.h"

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include "lm/tiny_model.h"
#include "nn/rope.h"

namespace remora::lm {
namespace {

using test::close;
using test::TinyModel;

// Sums in another order than the reference's.
constexpr double kRounding = 3e-5;

TEST(SlowModel, EmbeddingIsExact) {
  const TinyModel tiny("s2pro");
  const at::Tensor ours =
      tiny.model->slow().embed(tiny.columns("embed_probe.input"), at::kFloat, at::kCPU);
  EXPECT_TRUE(close(ours, tiny.tensors["embed_probe.output"], 0));
}

// Runs the blocks by halves and compares what the reference file holds under `debug.layer<i>.`.
void expect_layers(const TinyModel& tiny, const std::vector<int32_t>& columns) {
  const Transformer& stack = tiny.model->slow().transformer();
  at::Tensor x = tiny.model->slow().embed(columns, at::kFloat, at::kCPU);
  EXPECT_TRUE(close(x, tiny.tensors["debug.embed_out"], 0));
  const int64_t n = x.size(0);
  const auto kv =
      nn::make_kv_cache(nn::KvMode::kActivePrefix, stack.kv_shape(at::kFloat, at::kCPU), n, n);
  nn::SdpaReport report;
  const nn::KvRows rows{0, n, {}};
  const at::Tensor rope = nn::rope_table(0, n, stack.config().head_dim, 1e6);
  const PassContext pass{*kv, rows, rope, nn::SdpaPolicy::kAuto, report, nullptr};
  const auto expect = [&](const std::string& key, const at::Tensor& ours) {
    if (tiny.tensors.has(key)) {
      EXPECT_TRUE(close(ours, tiny.tensors[key], kRounding)) << key;
    }
  };
  for (int64_t layer = 0; layer < stack.config().layers; ++layer) {
    const std::string prefix = "debug.layer" + std::to_string(layer) + ".";
    const Block& block = stack.blocks()[static_cast<size_t>(layer)];
    const at::Tensor normed = stack.norm(x, block.attention_norm);
    expect(prefix + "attn_norm", normed);
    const at::Tensor attended = stack.attend(layer, normed, pass);
    expect(prefix + "attn_out", attended);
    expect(prefix + "k_cache", kv->keys(layer, n));
    expect(prefix + "v_cache", kv->values(layer, n));
    x = x + attended;
    x = x + stack.feed_forward(layer, stack.norm(x, block.ffn_norm));
    expect(prefix + "out", x);
  }
  expect("debug.final_hidden", tiny.model->slow().output(x).hidden.select(0, 0));
}

TEST(SlowModel, EachLayerOfThePrefillMatchesS2) {
  const TinyModel tiny("s2pro");
  expect_layers(tiny, tiny.columns("debug.prompt"));
}

TEST(SlowModel, EachLayerOfThePrefillMatchesS1) {
  const TinyModel tiny("s1mini");
  expect_layers(tiny, tiny.columns("ref_one.prompt"));
}

TEST(SlowModel, HeadHoldsTheSemanticRangeAndTheEndTokenInOrder) {
  const TinyModel tiny("s2pro");
  const auto tokens = tiny.model->slow().head_tokens();
  ASSERT_EQ(tokens.size(), 129U);
  EXPECT_EQ(tokens.front(), 642);
  EXPECT_EQ(tokens[1], 656);
  EXPECT_EQ(tokens.back(), 783);
}

}  // namespace
}  // namespace remora::lm
