#include "io/source_set.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>

#include "io/checkpoint.h"
#include "io/file_source.h"
#include "io/host_reader.h"
#include "io/memory_source.h"
#include "io/temp_dir.h"
#include "support/golden.h"

namespace remora::test {
namespace {

using io::SourceSet;
using io::StateDict;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::string_view kFolders[] = {"lm/s2pro_tiny", "lm/s1mini_tiny"};

std::map<std::string, std::string> files_of(std::string_view folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(data_path(std::string(folder)))) {
    files[entry.path().filename().string()] = read_file(entry.path().string());
  }
  return files;
}

// Reads the folder's weights and configuration through `set` and from disk.
void expect_equal_to_folder(const SourceSet& set, std::string_view folder) {
  const auto disk = io::open_directory(data_path(std::string(folder)));
  const StateDict expected = io::read_checkpoint(*disk);
  const StateDict actual = io::read_checkpoint(set);
  ASSERT_EQ(actual.size(), expected.size());
  EXPECT_EQ(actual.first_name(), expected.first_name());
  for (const auto& [name, stored] : expected.tensors()) {
    ASSERT_TRUE(actual.contains(name)) << name;
    EXPECT_TRUE(close(actual.find(name)->load(), stored.load(), 0)) << name;
  }
  EXPECT_EQ(io::read_text(*set.open("config.json"), 1 << 20),
            io::read_text(*disk->open("config.json"), 1 << 20));
}

TEST(SourceSet, ACheckpointByPathsEqualsTheFolder) {
  for (const std::string_view folder : kFolders) {
    SourceSet set;
    for (const auto& [name, bytes] : files_of(folder)) {
      set.add_path(name, data_path(concat(folder, "/", name)));
    }
    expect_equal_to_folder(set, folder);
  }
}

TEST(SourceSet, ACheckpointInMemoryEqualsTheFolderAndIsReleasedOnce) {
  for (const std::string_view folder : kFolders) {
    const auto files = files_of(folder);
    std::map<const void*, int> released;
    const io::MemoryRelease release{[](void* user, const void* data, size_t) {
                                      ++(*static_cast<std::map<const void*, int>*>(user))[data];
                                    },
                                    &released};
    at::Tensor kept;
    {
      SourceSet set;
      for (const auto& [name, bytes] : files) {
        set.add_memory(name, bytes.data(), bytes.size(), release);
      }
      expect_equal_to_folder(set, folder);
      const StateDict dict = io::read_checkpoint(set);
      const io::StoredTensor& first = *dict.find(dict.first_name());
      kept = first.load();
      EXPECT_EQ(kept.data_ptr(), first.source->view().data() + first.offset) << "no copy";
    }
    EXPECT_EQ(released.size(), files.size() - 1) << "all but the file that a tensor still uses";
    kept = at::Tensor();
    EXPECT_EQ(released.size(), files.size());
    for (const auto& [data, count] : released) EXPECT_EQ(count, 1);
  }
}

TEST(SourceSet, MemoryIsReleasedOnceWhenItIsRefused) {
  SourceSet set;
  int released = 0;
  const io::MemoryRelease release{
      [](void* user, const void*, size_t) { ++*static_cast<int*>(user); }, &released};
  EXPECT_THAT(error_of([&] { set.add_memory("../x", "x", 1, release); }),
              HasSubstr("REMORA_E_INVALID_ARGUMENT"));
  EXPECT_EQ(released, 1);
  EXPECT_THAT(error_of([&] { set.add_memory("x", nullptr, 1, release); }), HasSubstr("null"));
  EXPECT_EQ(released, 2);
  set.add_memory("x", "x", 1, release);
  EXPECT_THAT(error_of([&] { set.add_memory("x", "y", 1, release); }), HasSubstr("already"));
  EXPECT_EQ(released, 3);
  set.add_memory("empty", nullptr, 0, {});
  EXPECT_EQ(set.open("empty")->size(), 0u);
}

TEST(SourceSet, ACheckpointInsideOneFileByDescriptorEqualsTheFolder) {
  for (const std::string_view folder : kFolders) {
    // One pack of all files at odd offsets, as an application package has them.
    const TempDir dir;
    std::string pack = "odd";
    std::map<std::string, std::pair<uint64_t, uint64_t>> places;
    for (const auto& [name, bytes] : files_of(folder)) {
      places[name] = {pack.size(), bytes.size()};
      pack += bytes + "gap";
    }
    const int fd = ::open(dir.write("pack", pack).c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_GE(fd, 0);
    SourceSet set;
    for (const auto& [name, place] : places) set.add_fd(name, fd, place.first, place.second);
    ::close(fd);
    expect_equal_to_folder(set, folder);
  }
}

TEST(SourceSet, DescriptorsThatCannotBeReadAreRefused) {
  const TempDir dir;
  const int fd = ::open(dir.write("four", "1234").c_str(), O_RDONLY | O_CLOEXEC);
  SourceSet set;
  EXPECT_THAT(error_of([&] { set.add_fd("a", -1, 0, 1); }), HasSubstr("REMORA_E_IO"));
  EXPECT_THAT(error_of([&] { set.add_fd("a", fd, 2, 3); }), HasSubstr("not inside"));
  EXPECT_THAT(error_of([&] { set.add_fd("a", fd, UINT64_MAX, 2); }), HasSubstr("not inside"));
  EXPECT_THAT(error_of([&] { set.add_fd("a", fd, 1, UINT64_MAX); }), HasSubstr("not inside"));
  set.add_fd("a", fd, 1, 2);
  EXPECT_EQ(io::read_text(*set.open("a"), 10), "23");
  set.add_fd("end", fd, 4, 0);
  EXPECT_EQ(set.open("end")->size(), 0u);
  ::close(fd);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  EXPECT_THAT(error_of([&] { set.add_fd("pipe", ends[0], 0, 1); }), HasSubstr("regular file"));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(SourceSet, FilesThatCannotBeMappedAreReadInstead) {
  const TempDir dir;
  const std::string bytes = read_file(data_path("codec/wrapped_mini_dict.pth"));
  const std::string path = dir.write("f", "skip" + bytes);
  const auto open_as = [&](io::Mapping mapping) {
    return io::open_range(io::Descriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), "f", 4,
                          bytes.size(), mapping);
  };
  const auto read = open_as(io::Mapping::kNever);
  EXPECT_TRUE(read->view().empty());
  EXPECT_EQ(io::read_text(*read, 1 << 20), bytes);
  const auto mapped = open_as(io::Mapping::kIfPossible);
  EXPECT_EQ(mapped->view().size(), bytes.size());
  mapped->release_pages(0, UINT64_MAX);
  EXPECT_EQ(io::read_text(*mapped, 1 << 20), bytes);
  // The file becomes shorter behind the reader's back.
  std::filesystem::resize_file(path, 100);
  EXPECT_THAT(error_of([&] { io::read_text(*read, 1 << 20); }), HasSubstr("ended while"));
}

TEST(SourceSet, ACheckpointByReaderEqualsTheFolder) {
  for (const std::string_view folder : kFolders) {
    Host host{files_of(folder)};
    {
      SourceSet set;
      set.set_reader(host.reader());
      expect_equal_to_folder(set, folder);
    }
    EXPECT_GT(host.opened, 0);
    EXPECT_EQ(host.closed, host.opened);
  }
}

TEST(SourceSet, SingleFilesComeBeforeFoldersBeforeTheReader) {
  const TempDir first("first");
  const TempDir second("second");
  first.write("a", "first");
  second.write("a", "second");
  second.write("b", "second");
  Host host{{{"a", "reader"}, {"b", "reader"}, {"c", "reader"}, {"d", "reader"}}};
  SourceSet set;
  EXPECT_EQ(set.describe(), "source (empty)");
  set.add_dir(first.path());
  set.add_dir(second.path());
  set.set_reader(host.reader());
  set.add_memory("d", "memory", 6, {});
  const auto text = [&](std::string_view name) { return io::read_text(*set.open(name), 100); };
  EXPECT_EQ(text("a"), "first");
  EXPECT_EQ(text("b"), "second");
  EXPECT_EQ(text("c"), "reader");
  EXPECT_EQ(text("d"), "memory");
  EXPECT_FALSE(set.contains("e"));
  EXPECT_THAT(error_of([&] { set.open("e"); }), HasSubstr("e: no such file"));
  EXPECT_FALSE(set.contains("../first/a"));
  EXPECT_THAT(error_of([&] { set.open("../first/a"); }), HasSubstr("outside"));
  EXPECT_EQ(set.display_name("b"), second.path("b"));
  EXPECT_THAT(set.describe(), AllOf(HasSubstr(first.path()), HasSubstr("1 file, reader")));
}

TEST(SourceSet, ACodecFolderTakesThePlaceOfTheCodecBesideTheModel) {
  const TempDir model("model");
  const TempDir codec("codec");
  for (const std::string name : {"codec.safetensors", "codec.json", "config.json"}) {
    model.write(name, "model's");
  }
  SourceSet set;
  set.add_dir(model.path());
  EXPECT_THAT(error_of([&] { set.add_codec_dir(codec.path()); }), HasSubstr("no codec here"));
  codec.write("codec.pth", "codec's");
  codec.write("config.json", R"({"model_type":"dual_ar"})");
  set.add_codec_dir(codec.path());
  const auto text = [&](std::string_view name) { return io::read_text(*set.open(name), 100); };
  EXPECT_EQ(text("codec.pth"), "codec's");
  EXPECT_FALSE(set.contains("codec.safetensors")) << "the model's own codec is out of sight";
  EXPECT_FALSE(set.contains("codec.json"))
      << "a config.json of a language model is not the codec's";
  EXPECT_EQ(text("config.json"), "model's");

  codec.write("config.json", R"({"decoder_rates":[8]})");
  set.add_codec_dir(codec.path());
  EXPECT_EQ(text("codec.json"), R"({"decoder_rates":[8]})");
  codec.write("codec.json", "{}");
  set.add_codec_dir(codec.path());
  EXPECT_EQ(text("codec.json"), "{}");
}

}  // namespace
}  // namespace remora::test
