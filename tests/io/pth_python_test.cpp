// Files of tests/data/pth, which Python's torch.save wrote (make_pth_files.py).
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "io/memory_source.h"
#include "io/pth.h"
#include "io/temp_dir.h"
#include "support/golden.h"

namespace remora::test {
namespace {

using io::StateDict;
using testing::AllOf;
using testing::HasSubstr;

std::string path_of(const std::string& form) { return data_path("pth/" + form + ".pth"); }

StateDict read(const std::string& form) { return io::read_pth(io::open_file(path_of(form))); }

std::string error_for(const std::string& form) {
  return error_of([&] { read(form); });
}

// 0, 1, 2, ... in this shape.
at::Tensor count(at::IntArrayRef shape) {
  return at::arange(c10::multiply_integers(shape), at::kFloat).reshape(shape);
}

testing::AssertionResult holds(const StateDict& dict, const std::string& name,
                               const at::Tensor& expected) {
  if (!dict.contains(name)) return testing::AssertionFailure() << "no tensor " << name;
  return close(dict.find(name)->load().to(at::kFloat), expected, 0);
}

TEST(PythonPth, RB_48_EveryMappingGivesItsTensors) {
  // A mapping called state_dict is read alone, others by their names.
  const struct {
    std::string form, prefix;
    size_t tensors;
  } cases[] = {{"dict", "", 2},       {"ordered", "", 2},   {"one_entry", "", 1},
               {"state_dict", "", 2}, {"parameter", "", 1}, {"generator", "generator.", 2}};
  for (const auto& [form, prefix, tensors] : cases) {
    const StateDict dict = read(form);
    EXPECT_EQ(dict.size(), tensors) << form << ": numbers and texts are no tensors";
    EXPECT_EQ(dict.first_name(), prefix + "a") << form;
    EXPECT_TRUE(holds(dict, prefix + "a", count({2, 3}))) << form;
    if (tensors > 1) {
      EXPECT_TRUE(holds(dict, prefix + "b", count({4}))) << form;
    }
  }
}

TEST(PythonPth, RB_48_SixteenBitsSharedStorageAndViewsKeepTheirNumbers) {
  const StateDict half = read("half");
  EXPECT_EQ(half.find("a")->dtype, at::kHalf);
  EXPECT_EQ(half.find("b")->dtype, at::kBFloat16);
  EXPECT_TRUE(holds(half, "a", count({2, 3})));
  EXPECT_TRUE(holds(half, "b", count({4})));
  const StateDict shared = read("shared");
  EXPECT_TRUE(holds(shared, "a", count({2, 2})));
  EXPECT_TRUE(holds(shared, "b", count({6}).slice(0, 2)));
  EXPECT_EQ(shared.find("a")->source, shared.find("b")->source);
  EXPECT_EQ(shared.find("b")->offset - shared.find("a")->offset, 2 * sizeof(float));
  EXPECT_TRUE(holds(read("transposed"), "a", count({3, 2}).t()));
}

TEST(PythonPth, RB_48_OldAndPackedFormsSaySo) {
  EXPECT_THAT(error_for("old_form"), AllOf(HasSubstr("old_form.pth"), HasSubstr("old file form")));
  EXPECT_THAT(error_for("compressed"), AllOf(HasSubstr("compressed.pth"), HasSubstr("compressed")));
}

TEST(PythonPth, RB_48_ACutFileOfEveryFormIsAnError) {
  for (const auto& entry : std::filesystem::directory_iterator(data_path("pth"))) {
    const std::string whole = read_file(entry.path());
    for (size_t length = 0; length < whole.size(); length += 1 + whole.size() / 40) {
      EXPECT_THAT(error_of([&] {
                    io::read_pth(memory_source("f.pth", std::string_view(whole).substr(0, length)));
                  }),
                  testing::StartsWith("REMORA_E_FORMAT: f.pth: "))
          << entry.path() << " cut at " << length;
    }
  }
}

TEST(PythonPth, RB_48_APickleThatCallsAFunctionIsRefusedAndNothingRuns) {
  EXPECT_THAT(error_for("calls_a_function"), AllOf(HasSubstr("posix.mkdir"), HasSubstr("refused")));
  EXPECT_FALSE(std::filesystem::exists("a_pickle_ran"));
}

}  // namespace
}  // namespace remora::test
