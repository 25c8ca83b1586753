// Checkpoint wrappers and names of every accepted form.
#include "codec/names.h"

#include "base/error.h"
#include "codec_files.h"
#include "io/checkpoint.h"
#include "support/golden.h"

namespace remora::codec {
namespace {

std::vector<std::string> names_of(const io::StateDict& dict) {
  std::vector<std::string> names;
  for (const auto& [name, tensor] : dict.tensors()) names.push_back(name);
  return names;
}

class WrappedFile : public testing::TestWithParam<std::string> {};

TEST_P(WrappedFile, GivesExactlyTheGeneratorsNames) {
  const std::string file = GetParam();
  const auto index = test::load_json("codec/index.json");
  auto expected = index["files"]["wrapped_mini_dict.pth"]["expect"].get<std::vector<std::string>>();
  std::sort(expected.begin(), expected.end());
  const auto files = io::open_directory(test::data_path("codec"));
  EXPECT_EQ(names_of(plain_names(io::read_tensor_file(*files, file))), expected);
}

INSTANTIATE_TEST_SUITE_P(Names, WrappedFile,
                         testing::Values("wrapped_mini_dict.pth", "wrapped_mini_ordered.pth"));

io::StateDict with_names(const std::vector<std::string>& names) {
  io::StateDict dict;
  for (const std::string& name : names) {
    io::StoredTensor tensor;
    tensor.source = test::memory_source("codec.pth", "");
    dict.insert(name, std::move(tensor));
  }
  return dict;
}

TEST(Names, PlainOnesStay) {
  const std::vector<std::string> names = {"decoder.model.0.conv.bias", "quantizer.x"};
  EXPECT_EQ(names_of(plain_names(with_names(names))), names);
}

TEST(Names, RB_47_ParallelTrainingPrefixIsCut) {
  EXPECT_EQ(names_of(plain_names(with_names({"module.a.b", "module.generator.c"}))),
            (std::vector<std::string>{"c"}));
  EXPECT_EQ(names_of(plain_names(with_names({"module.a.b"}))), (std::vector<std::string>{"a.b"}));
}

TEST(Names, NestedStateDictHidesWhatStandsBesideIt) {
  EXPECT_EQ(
      names_of(plain_names(with_names({"epoch.generator.step", "state_dict.a.b", "state_dict.c"}))),
      (std::vector<std::string>{"a.b", "c"}));
}

TEST(Names, StaleBuffersAreDropped) {
  EXPECT_EQ(names_of(plain_names(
                with_names({"encoder.block.4.block.5.freqs_cis", "quantizer.pre_module.causal_mask",
                            "quantizer.pre_module.norm.weight"}))),
            (std::vector<std::string>{"quantizer.pre_module.norm.weight"}));
}

TEST(Names, TwoTensorsOfOneNameAreAnError) {
  EXPECT_THROW(plain_names(with_names({"a", "module.a"})), Error);
}

}  // namespace
}  // namespace remora::codec
