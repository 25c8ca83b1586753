#include "io/safetensors_writer.h"

#include <ATen/ops/arange.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "io/byte_source.h"
#include "io/memory_source.h"
#include "io/state_dict.h"
#include "io/temp_dir.h"
#include "support/golden.h"

namespace remora::test {
namespace {

using Metadata = std::vector<std::pair<std::string, std::string>>;

const Metadata kNothing;

at::Tensor counting(int64_t n, at::ScalarType type) {
  return at::arange(n, at::TensorOptions().dtype(type));
}

// Of every type, in an order that would leave wider numbers at odd places.
std::vector<io::NamedTensor> tensors() {
  return {{"half", counting(3, at::kHalf)},
          {"bf16", counting(5, at::kBFloat16).view({5, 1})},
          {"float", counting(6, at::kFloat).view({2, 3})},
          {"bytes", counting(128, at::kByte).view({2, 64})},
          {"nothing", counting(0, at::kFloat)}};
}

io::StateDict read(const std::string& path) {
  io::StateDict dict;
  io::read_safetensors(io::open_file(path), dict);
  return dict;
}

TEST(SafetensorsWriter, WhatIsWrittenIsReadBack) {
  const TempDir folder;
  const std::string path = folder.path("w.safetensors");
  const Metadata metadata{{"a.version", "1"}, {"quote", "\"\\\n"}};
  io::write_safetensors(path, tensors(), metadata, {});
  const io::StateDict dict = read(path);
  EXPECT_EQ(dict.size(), tensors().size());
  for (const io::NamedTensor& named : tensors()) {
    const io::StoredTensor* stored = dict.find(named.name);
    ASSERT_NE(stored, nullptr) << named.name;
    EXPECT_EQ(stored->dtype, named.tensor.scalar_type()) << named.name;
    EXPECT_EQ(stored->shape, named.tensor.sizes().vec()) << named.name;
    EXPECT_TRUE(close(stored->load(), named.tensor, 0)) << named.name;
  }
  EXPECT_EQ(dict.description("a.version"), "1");
  EXPECT_EQ(dict.description("quote"), "\"\\\n");
  EXPECT_EQ(dict.description("absent"), std::nullopt);
}

TEST(SafetensorsWriter, EveryTensorLiesWhereItsTypeMayBeMappedAndNoGapIsLeft) {
  const TempDir folder;
  const std::string path = folder.path("w.safetensors");
  io::write_safetensors(path, tensors(), kNothing, {});
  const std::string file = read_file(path);
  uint64_t header = 0;
  std::copy_n(file.data(), sizeof header, reinterpret_cast<char*>(&header));
  EXPECT_EQ((sizeof header + header) % 64, 0U);
  uint64_t end = 0;
  const auto json = nlohmann::ordered_json::parse(file.substr(8, header));
  for (const auto& [name, entry] : json.items()) {
    if (name == "__metadata__") continue;
    EXPECT_EQ(entry["data_offsets"][0].get<uint64_t>(), end) << name;
    end = entry["data_offsets"][1].get<uint64_t>();
  }
  EXPECT_EQ(8 + header + end, file.size());
  const io::StateDict dict = read(path);
  for (const auto& [name, stored] : dict.tensors()) {
    EXPECT_EQ(stored.offset % c10::elementSize(stored.dtype), 0U) << name;
  }
  EXPECT_EQ(dict.find("bytes")->offset, sizeof header + header);
}

TEST(SafetensorsWriter, ProgressRisesToOneAndAStopLeavesNothing) {
  const TempDir folder;
  const std::string path = folder.path("w.safetensors");
  std::vector<float> seen;
  io::write_safetensors(path, tensors(), kNothing, [&](float fraction) {
    seen.push_back(fraction);
    return false;
  });
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.front(), 0.0F);
  EXPECT_EQ(seen.back(), 1.0F);
  std::filesystem::remove(path);
  for (const size_t after : {size_t{1}, seen.size()}) {
    size_t calls = 0;
    EXPECT_THAT(error_of([&] {
                  io::write_safetensors(path, tensors(), kNothing,
                                        [&](float /*fraction*/) { return ++calls == after; });
                }),
                testing::StartsWith("REMORA_E_CANCELLED: " + path));
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
}

TEST(SafetensorsWriter, AFolderThatIsNotThereIsNamed) {
  EXPECT_THAT(error_of([] {
                io::write_safetensors("/no/such/folder/w.safetensors", tensors(), kNothing, {});
              }),
              testing::StartsWith("REMORA_E_IO: /no/such/folder/w.safetensors: cannot create it"));
}

}  // namespace
}  // namespace remora::test
