#include "io/checkpoint.h"

#include <gmock/gmock.h>

#include <filesystem>

#include "io/archive_builder.h"
#include "io/memory_source.h"
#include "io/temp_dir.h"
#include "support/golden.h"

namespace remora::test {
namespace {

using io::StateDict;
using testing::AllOf;
using testing::HasSubstr;

constexpr char kIndex[] = "model.safetensors.index.json";
constexpr char kShard1[] = "model-00001-of-00002.safetensors";
constexpr char kShard2[] = "model-00002-of-00002.safetensors";

using Files = std::map<std::string, std::string, std::less<>>;

// One safetensors file of one-byte tensors.
std::string tensors(const std::vector<std::string>& names) {
  std::string header = "{";
  for (size_t i = 0; i < names.size(); ++i) {
    header += concat(i > 0 ? "," : "", "\"", names[i],
                     R"(":{"dtype":"U8","shape":[1],"data_offsets":[)", i, ",", i + 1, "]}");
  }
  header += "}";
  return little(header.size(), 8) + header + std::string(names.size(), '\x05');
}

std::string one_tensor_pth() {
  return pth(pickle::dict({pickle::text("p"),
                           pickle::tensor(pickle::storage("FloatStorage", "0", 1), 0, {1}, {1})}),
             {std::string(4, '\0')});
}

Files two_shards() {
  return {{kIndex, R"({"metadata":{"total_size":3},"weight_map":{"a":")" + std::string(kShard1) +
                       R"(","b":")" + kShard2 + R"(","c":")" + kShard2 + R"("}})"},
          {kShard1, tensors({"a"})},
          {kShard2, tensors({"b", "c"})}};
}

StateDict read(const Files& files) { return io::read_checkpoint(MemoryFiles(files)); }
std::string error_for(const Files& files) {
  return error_of([&] { read(files); });
}

TEST(Checkpoint, ReadsTheShardsOfTheReferenceFolder) {
  const auto folder = io::open_directory(data_path("lm/s2pro_tiny"));
  const StateDict dict = io::read_checkpoint(*folder);
  const auto map = load_json("lm/s2pro_tiny/model.safetensors.index.json")["weight_map"];
  EXPECT_EQ(dict.size(), map.size());
  for (const auto& [name, shard] : map.items()) {
    ASSERT_TRUE(dict.contains(name)) << name;
    EXPECT_EQ(dict.find(name)->source->name(), folder->display_name(shard.get<std::string>()));
  }
  EXPECT_THAT(dict.files(), AllOf(HasSubstr(kShard1), HasSubstr(kShard2)));
}

TEST(Checkpoint, RB_45_SearchesIndexThenSingleFileThenPickle) {
  Files files = two_shards();
  files["model.safetensors"] = tensors({"single"});
  files["model.pth"] = one_tensor_pth();
  EXPECT_TRUE(read(files).contains("a"));
  files.erase(kIndex);
  EXPECT_TRUE(read(files).contains("single"));
  files.erase("model.safetensors");
  EXPECT_TRUE(read(files).contains("p"));
  files.erase("model.pth");
  EXPECT_EQ(read(files).size(), 3u) << "shards without an index";
}

TEST(Checkpoint, NothingThereNamesTheFolderAndWhatWasLookedFor) {
  EXPECT_THAT(error_for({{"readme.txt", "x"}}),
              AllOf(HasSubstr("REMORA_E_IO: folder: no weights"), HasSubstr(kIndex),
                    HasSubstr("model.safetensors"), HasSubstr("model.pth")));
}

TEST(Checkpoint, RB_45_AMissingShardIsNamed) {
  Files files = two_shards();
  files.erase(kShard2);
  EXPECT_THAT(error_for(files), AllOf(HasSubstr("REMORA_E_IO"), HasSubstr(kShard2),
                                      HasSubstr("incomplete download?"), HasSubstr(kIndex)));
  files.erase(kIndex);
  EXPECT_THAT(error_for(files), AllOf(HasSubstr(kShard2), HasSubstr("incomplete download?")));
  files.erase(kShard1);
  files[kShard2] = tensors({"b", "c"});
  EXPECT_THAT(error_for(files), HasSubstr(kShard1));
}

TEST(Checkpoint, RB_45_ACutShardIsNamed) {
  Files files = two_shards();
  files[kShard2].pop_back();
  EXPECT_THAT(error_for(files),
              AllOf(HasSubstr(kShard2), HasSubstr("tensor c"), HasSubstr("incomplete download?")));
}

TEST(Checkpoint, RB_45_TensorsOfTheIndexThatNoShardHasAreListed) {
  Files files = two_shards();
  files[kShard2] = tensors({"b"});
  EXPECT_THAT(error_for(files),
              AllOf(HasSubstr(kIndex), HasSubstr("1 tensor in it but in no shard: c")));
  std::string map = R"({"weight_map":{"a":")" + std::string(kShard1) + "\"";
  for (int i = 10; i < 22; ++i) map += concat(",\"t", i, "\":\"", kShard1, "\"");
  files[kIndex] = map + "}}";
  EXPECT_THAT(error_for(files),
              AllOf(HasSubstr("12 tensors"), HasSubstr("t10, "), HasSubstr("t19 and 2 more")));
}

TEST(Checkpoint, RB_45_IndexesThatAreNotOneAreRefused) {
  Files files = two_shards();
  for (const std::string shard : {"../x.safetensors", "/etc/passwd", "a/../../b", ""}) {
    files[kIndex] = R"({"weight_map":{"a":")" + shard + R"("}})";
    EXPECT_THAT(error_for(files), AllOf(HasSubstr("weight_map.a"), HasSubstr("outside the folder")))
        << shard;
  }
  for (const std::string index :
       {"", "{", "[]", "{}", R"({"weight_map":[]})", R"({"weight_map":{}})",
        R"({"weight_map":{"a":1}})", R"({"weight_map":null})"}) {
    files[kIndex] = index;
    EXPECT_THAT(error_for(files), HasSubstr(concat("REMORA_E_FORMAT: folder/", kIndex))) << index;
  }
}

TEST(Checkpoint, ATensorInTwoShardsIsRefused) {
  Files files = two_shards();
  files[kShard2] = tensors({"a", "b", "c"});
  EXPECT_THAT(error_for(files), HasSubstr("tensor a is there twice"));
}

TEST(Checkpoint, TwoShardSetsWithoutAnIndexAreRefused) {
  Files files = two_shards();
  files.erase(kIndex);
  files["model-00001-of-00003.safetensors"] = tensors({"x"});
  EXPECT_THAT(error_for(files), HasSubstr("two sets"));
}

TEST(Checkpoint, ContentDecidesNotTheName) {
  const MemoryFiles files({{"codec.pth", tensors({"a"})},
                           {"codec.safetensors", one_tensor_pth()},
                           {"empty", ""},
                           {"lfs", "version https://git-lfs.github.com/spec/v1\n"}});
  EXPECT_TRUE(io::read_tensor_file(files, "codec.pth").contains("a"));
  EXPECT_TRUE(io::read_tensor_file(files, "codec.safetensors").contains("p"));
  EXPECT_THAT(error_of([&] { io::read_tensor_file(files, "empty"); }),
              HasSubstr("folder/empty: no weight file (the file is empty"));
  EXPECT_THAT(error_of([&] { io::read_tensor_file(files, "lfs"); }), HasSubstr("git lfs pull"));
}

}  // namespace
}  // namespace remora::test
