#include "io/weight_loader.h"

#include <gmock/gmock.h>

#include "io/archive_builder.h"
#include "io/memory_source.h"
#include "support/golden.h"

namespace remora::test {
namespace {

using io::StateDict;
using io::WeightLoader;
using testing::AllOf;
using testing::HasSubstr;

// Float tensors "a" [2] = 1 2 and "b" [2,1] = 1 2, and "h", two bfloat16 numbers.
StateDict small_dict() {
  const std::string header = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                             R"("b":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]},)"
                             R"("h":{"dtype":"BF16","shape":[2],"data_offsets":[8,12]}})";
  StateDict dict;
  io::read_safetensors(
      memory_source("w.safetensors", little(header.size(), 8) + header + little(0x3f800000, 4) +
                                         little(0x40000000, 4) + little(0x40003f80, 4)),
      dict);
  return dict;
}

// A file in memory that counts the bytes it was told to let go.
class CountingSource final : public io::ByteSource {
 public:
  explicit CountingSource(size_t size) : ByteSource("counted"), bytes_(size) {}
  uint64_t size() const override { return bytes_.size(); }
  std::span<const std::byte> view() const override { return bytes_; }
  void read_at(uint64_t, std::span<std::byte>) const override { ADD_FAILURE() << "not mapped"; }
  void release_pages(uint64_t, uint64_t length) const override { released += length; }

  mutable uint64_t released = 0;

 private:
  std::vector<std::byte> bytes_;
};

TEST(WeightLoader, PagesGoWithTheLastTensorThatShowsThem) {
  const auto source = std::make_shared<CountingSource>(64);
  StateDict dict;
  dict.insert("w", {source, 16, at::kFloat, {4}, {}});
  WeightLoader loader(dict);
  at::Tensor half = loader.take("w", {4}).narrow(0, 0, 2);
  EXPECT_EQ(source->released, 0u) << "a part is still shown";
  half.reset();
  EXPECT_EQ(source->released, 16u);
  const at::Tensor converted = loader.take("w", {4}, at::kBFloat16);
  EXPECT_EQ(source->released, 32u) << "only the copy is needed";
  const at::Tensor kept = loader.take("w", {4}, at::kFloat);
  EXPECT_EQ(source->released, 32u) << "used where it lies";
}

TEST(WeightLoader, GivesEachTensorInTheTypeAskedFor) {
  const StateDict dict = small_dict();
  WeightLoader loader(dict);
  const at::Tensor a = loader.take("a", {2});
  EXPECT_TRUE(close(a, loader.take("h", {2}, at::kFloat), 0));
  EXPECT_EQ(loader.take("h", {2}).scalar_type(), at::kBFloat16);
  EXPECT_EQ(loader.take("a", {2}, at::kFloat).data_ptr(), a.data_ptr()) << "no copy";
  EXPECT_EQ(loader.shape_of("b"), (std::vector<int64_t>{2, 1}));
  EXPECT_TRUE(loader.shape_of("c").empty());
  EXPECT_NO_THROW(loader.finish());
}

TEST(WeightLoader, RB_47_OneMissingAndOneMisshapedTensorAreNamedTogether) {
  const StateDict dict = small_dict();
  WeightLoader loader(dict);
  EXPECT_EQ(loader.take("missing", {3, 4}).sizes(), (std::vector<int64_t>{3, 4}));
  loader.take("b", {1, 2}, at::kHalf);
  loader.problem("config.json: something else");
  EXPECT_THAT(error_of([&] { loader.finish(); }),
              AllOf(HasSubstr("REMORA_E_FORMAT: w.safetensors: tensor missing [3,4] is missing"),
                    HasSubstr("w.safetensors: tensor b is [2,1], expected [1,2]"),
                    HasSubstr("something else"), HasSubstr("same checkpoint?")));
}

TEST(WeightLoader, ShapesComeWithoutNumbersAndWithTheSameComplaints) {
  const StateDict dict = small_dict();
  WeightLoader loader(dict, io::Reading::kShapes);
  for (const auto& [tensor, type] : {std::pair{loader.take("h", {2}), at::kBFloat16},
                                     std::pair{loader.take("h", {2}, at::kFloat), at::kFloat}}) {
    EXPECT_TRUE(tensor.is_meta());
    EXPECT_EQ(tensor.sizes(), (std::vector<int64_t>{2}));
    EXPECT_EQ(tensor.scalar_type(), type);
  }
  EXPECT_NO_THROW(loader.finish());
  // Nobody has that much memory.
  EXPECT_TRUE(loader.take("missing", {int64_t{1} << 24, int64_t{1} << 24}, at::kFloat).is_meta());
  EXPECT_TRUE(loader.take("b", {1, 2}).is_meta());
  EXPECT_THAT(error_of([&] { loader.finish(); }),
              AllOf(HasSubstr("tensor missing [16777216,16777216] is missing"),
                    HasSubstr("tensor b is [2,1], expected [1,2]")));
}

TEST(WeightLoader, RB_47_ManyProblemsAreListedToTenAndCounted) {
  const StateDict dict = small_dict();
  WeightLoader loader(dict);
  for (int i = 10; i < 35; ++i) loader.take(concat("t", i), {1});
  EXPECT_THAT(error_of([&] { loader.finish(); }),
              AllOf(HasSubstr("tensor t19 "), testing::Not(HasSubstr("tensor t20 ")),
                    HasSubstr("and 15 more"), HasSubstr("25 problems")));
}

}  // namespace
}  // namespace remora::test
