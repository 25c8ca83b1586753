#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "failure.h"
#include "synthetic/checkpoint.h"
#include "synthetic/codec_tensors.h"
#include "synthetic/lm_tensors.h"
#include "synthetic/tensor_spec.h"
#include "synthetic/vocabulary.h"

namespace remora::cli {
namespace {

std::vector<std::byte> whole(const TensorSpec& spec) {
  std::vector<std::byte> bytes(spec.bytes());
  generate(spec, 5, 0, bytes);
  return bytes;
}

uint64_t total(const std::vector<TensorSpec>& tensors) {
  uint64_t sum = 0;
  for (const TensorSpec& tensor : tensors) sum += tensor.elements();
  return sum;
}

TEST(TensorSpec, AnyCutOfTheReadsGivesTheSameBytes) {
  for (const Dtype dtype : {Dtype::kF32, Dtype::kBf16}) {
    TensorSpec plain{"some.weight", {7, 13}, dtype, {0.5, 2, false}, {}};
    TensorSpec held = plain;
    held.fill.held = true;
    TensorSpec patched = plain;
    patched.patches.push_back({2, 4, 1, 13, -3});
    for (const TensorSpec& spec : {plain, held, patched}) {
      const std::vector<std::byte> expected = whole(spec);
      for (size_t begin = 0; begin < expected.size(); begin += 5) {
        for (const size_t size : {1, 2, 3, 16, 33}) {
          if (begin + size > expected.size()) continue;
          std::vector<std::byte> part(size);
          generate(spec, 5, begin, part);
          ASSERT_EQ(std::memcmp(part.data(), expected.data() + begin, size), 0) << begin;
        }
      }
    }
  }
}

TEST(TensorSpec, HeldNumbersFillTheLastAxis) {
  const std::vector<std::byte> bytes = whole({"w", {2, 3, 4}, Dtype::kF32, {0, 1, true}, {}});
  std::vector<float> values(24);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], values[i - i % 4]);
  EXPECT_NE(values[0], values[4]);
}

// Fixed numbers: another machine or compiler must make the same checkpoint.
TEST(TensorSpec, NumbersAreTheSameEverywhere) {
  const std::vector<std::byte> bytes = whole({"some.weight", {4}, Dtype::kF32, {0, 1, false}, {}});
  std::vector<float> values(4);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  EXPECT_EQ(values, std::vector<float>({1.53585362f, 0.953988373f, 1.0351789f, 0.845734358f}));
}

TEST(TensorSpec, MeanAndDeviationAreThoseAskedFor) {
  const std::vector<std::byte> bytes =
      whole({"w", {1000, 100}, Dtype::kF32, {0.25, 0.5, false}, {}});
  std::vector<float> values(100000);
  std::memcpy(values.data(), bytes.data(), bytes.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 1e5;
  double square = 0;
  for (const float value : values) square += (value - mean) * (value - mean);
  EXPECT_NEAR(mean, 0.25, 0.01);  // six standard errors of 100 000 draws
  EXPECT_NEAR(std::sqrt(square / 1e5), 0.5, 0.01);
}

// Sizes that the released files are known to have.
TEST(ReleasedShapes, CountTensorsAndParameters) {
  const CheckpointShape s2 = released_shape("s2-pro");
  EXPECT_EQ(lm_tensors(s2.lm).size(), 358u);
  EXPECT_EQ(total(lm_tensors(s2.lm)), 4561852416u);
  const CheckpointShape s1 = released_shape("s1-mini");
  EXPECT_EQ(lm_tensors(s1.lm).size(), 287u);
  EXPECT_EQ(total(lm_tensors(s1.lm)), 860169216u);
  EXPECT_EQ(codec_tensors(s2.codec).size(), 535u);
  EXPECT_EQ(total(codec_tensors(s2.codec)), 391430530u);
  EXPECT_EQ(released_shape("s2-pro:3").lm.slow.n_layer, 3);
  for (const char* wrong : {"s3", "s2-pro:", "s2-pro:0", "s2-pro:4x", "s2-pro:9999"}) {
    EXPECT_THROW(released_shape(wrong), Failure) << wrong;
  }
}

TEST(ReleasedShapes, ControlTokensHaveTheReleasedIds) {
  const Vocabulary s2 = make_vocabulary(released_shape("s2-pro").lm);
  EXPECT_EQ(s2.end_id, 151645);
  EXPECT_EQ(s2.semantic_begin, 151678);
  EXPECT_EQ(s2.semantic_end, 155773);
  const Vocabulary s1 = make_vocabulary(released_shape("s1-mini").lm);
  EXPECT_EQ(s1.end_id, 151647);
  EXPECT_EQ(s1.semantic_begin, 151658);
  EXPECT_EQ(s1.semantic_end, 155753);
}

TEST(Reader, ServesConsistentFiles) {
  const SyntheticCheckpoint checkpoint(tiny_shape(Family::kS2Pro), 1, Ending::kByLength);
  const remora_reader reader = checkpoint.reader();
  void* file = nullptr;
  uint64_t size = 0;
  EXPECT_EQ(reader.open(reader.user, "model.pth", &file, &size), REMORA_E_IO);
  ASSERT_EQ(reader.open(reader.user, "model.safetensors", &file, &size), REMORA_OK);

  std::string bytes(size, '\0');
  ASSERT_EQ(reader.read_at(reader.user, file, 0, bytes.data(), size), static_cast<int64_t>(size));
  uint64_t header = 0;
  std::memcpy(&header, bytes.data(), 8);
  const auto index = nlohmann::json::parse(bytes.substr(8, header));
  uint64_t end = 0;
  for (const auto& [name, tensor] : index.items()) {
    if (name != "__metadata__") end = std::max(end, tensor["data_offsets"][1].get<uint64_t>());
  }
  EXPECT_EQ(8 + header + end, size);

  std::string tail(100, '\0');
  ASSERT_EQ(reader.read_at(reader.user, file, size - 100, tail.data(), 100), 100);
  EXPECT_EQ(tail, bytes.substr(size - 100));
  EXPECT_NE(reader.read_at(reader.user, file, size - 99, tail.data(), 100), 100);
  EXPECT_NE(reader.read_at(reader.user, file, ~uint64_t{0}, tail.data(), 100), 100);
  reader.close(reader.user, file);
}

}  // namespace
}  // namespace remora::cli
