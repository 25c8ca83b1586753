// Weight norm in both spellings and folded, and what a wrong tensor leads to.
#include "codec/weights.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "codec_files.h"
#include "support/golden.h"

namespace remora::codec {
namespace {

TEST(Weights, FoldWeightNormLikeTheReference) {
  const test::Golden expected("codec/weightnorm.safetensors");
  const io::StateDict dict = test::golden_tensors();
  Weights weights(dict, at::kFloat, at::kCPU);
  for (const std::string module :
       {"decoder.model.4.block.1.conv", "decoder.model.6.conv", "encoder.block.0.conv",
        "encoder.block.2.block.4.conv", "quantizer.quantizer.quantizers.8.out_proj",
        "quantizer.semantic_quantizer.quantizers.0.in_proj"}) {
    const at::Tensor reference = expected[module + ".weight"];
    // A norm's sum in another order.
    EXPECT_TRUE(test::close(weights.folded(module, reference.sizes().vec()), reference, 1e-6))
        << module;
  }
  weights.finish();
}

TEST(Weights, RB_47_AreTheSameInEitherSpelling) {
  const io::StateDict dict = test::golden_tensors();
  const io::StateDict swapped = dict.renamed([](std::string name) {
    const auto replace = [&](std::string_view from, std::string_view to) {
      if (name.ends_with(from)) name.replace(name.size() - from.size(), from.size(), to);
    };
    replace(".parametrizations.weight.original1", ".weight_v");
    replace(".parametrizations.weight.original0", ".weight_g");
    return name;
  });
  Weights one(dict, at::kFloat, at::kCPU);
  Weights other(swapped, at::kFloat, at::kCPU);
  const std::vector<int64_t> shape = {1, 3, 7};
  EXPECT_TRUE(test::close(other.folded("decoder.model.6.conv", shape),
                          one.folded("decoder.model.6.conv", shape), 0));
}

TEST(Weights, WrongTensorsComeTogetherInOneError) {
  const io::StateDict dict = test::golden_tensors();
  Weights weights(dict, at::kFloat, at::kCPU);
  weights.folded("decoder.model.6.conv", {1, 5, 7});
  weights.folded("decoder.model.9.conv", {1, 3, 7});
  weights.plain("decoder.model.5.alpha", {1, 3, 1});
  try {
    weights.finish();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::kFormat);
    EXPECT_THAT(error.text(), testing::HasSubstr("tensor decoder.model.6.conv.parametrizations."
                                                 "weight.original1 is [1,3,7], expected [1,5,7]"));
    EXPECT_THAT(error.text(),
                testing::HasSubstr("tensor decoder.model.9.conv.weight [1,3,7] (or its weight_g "
                                   "and weight_v) is missing"));
    EXPECT_THAT(error.text(), testing::Not(testing::HasSubstr("alpha")));
  }
}

TEST(Weights, AreRoundedOnlyAfterFolding) {
  const io::StateDict dict = test::golden_tensors();
  Weights narrow(dict, at::kBFloat16, at::kCPU);
  Weights wide(dict, at::kFloat, at::kCPU);
  const std::vector<int64_t> shape = {1, 3, 7};
  EXPECT_TRUE(test::close(narrow.computed(narrow.folded("decoder.model.6.conv", shape)),
                          wide.folded("decoder.model.6.conv", shape).to(at::kBFloat16), 0));
}

}  // namespace
}  // namespace remora::codec
