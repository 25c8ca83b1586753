#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "io/byte_source.h"
#include "io/memory_source.h"
#include "io/quote.h"
#include "io/temp_dir.h"

namespace remora::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string open_folder_error(const std::string& path) {
  return error_of([&] { io::open_directory(path); });
}

TEST(Directory, MissingFolderAndFileInsteadAreNamed) {
  const TempDir dir;
  EXPECT_THAT(open_folder_error(dir.path("nowhere")),
              AllOf(HasSubstr("REMORA_E_IO"), HasSubstr("nowhere"), HasSubstr("No such file")));
  EXPECT_THAT(open_folder_error(""), HasSubstr("REMORA_E_IO"));
  const std::string file = dir.write("file", "x");
  EXPECT_THAT(open_folder_error(file), HasSubstr("not a folder"));
}

TEST(Directory, AnEmptyFolderOpensAndHoldsNothing) {
  const TempDir dir;
  const auto files = io::open_directory(dir.path());
  EXPECT_FALSE(files->contains("config.json"));
  EXPECT_THAT(error_of([&] { files->open("config.json"); }),
              AllOf(HasSubstr("REMORA_E_IO"), HasSubstr(dir.path("config.json"))));
}

TEST(Directory, RB_52_OddNamesPathsAndLinksWork) {
  // Cyrillic, Han, an accent, a blank and a hash sign.
  const TempDir dir("модель 模型 é #1");
  dir.write("вес.txt", "text");
  for (const std::string& path :
       {dir.path(), dir.path() + "/", std::filesystem::relative(dir.path()).string()}) {
    const auto files = io::open_directory(path);
    EXPECT_TRUE(files->contains("вес.txt")) << path;
    EXPECT_EQ(io::read_text(*files->open("вес.txt"), 100), "text");
    EXPECT_THAT(files->display_name("вес.txt"), testing::EndsWith("#1/вес.txt"));
  }
  const std::string link = dir.path("link");
  std::filesystem::create_directory_symlink(dir.path(), link);
  EXPECT_TRUE(io::open_directory(link)->contains("вес.txt"));
}

TEST(Directory, RB_52_LongPathsWork) {
  std::string name;
  for (int i = 0; i < 4; ++i) name += std::string(90, static_cast<char>('a' + i)) + "/";
  const TempDir dir(name);
  dir.write("f", "x");
  EXPECT_EQ(io::open_directory(dir.path())->open("f")->size(), 1u);
}

TEST(Directory, NamesThatLeaveTheFolderAreRefused) {
  const TempDir dir;
  const auto files = io::open_directory(dir.path());
  for (const std::string name : {"../x", "/etc/passwd", "a/../../x", ""}) {
    EXPECT_THAT(error_of([&] { files->open(name); }), HasSubstr("outside the folder")) << name;
    EXPECT_FALSE(files->contains(name)) << name;
  }
}

TEST(Directory, OnlyRegularFilesAreOpened) {
  const TempDir dir;
  std::filesystem::create_directory(dir.path("sub"));
  ASSERT_EQ(::mkfifo(dir.path("pipe").c_str(), 0600), 0);
  const auto files = io::open_directory(dir.path());
  // A pipe without a writer would block a plain open for ever.
  for (const std::string name : {"sub", "pipe"}) {
    EXPECT_FALSE(files->contains(name)) << name;
    EXPECT_THAT(error_of([&] { files->open(name); }), HasSubstr("not a regular file")) << name;
  }
}

TEST(File, EmptyFilesOpenAndReadsStayInside) {
  const TempDir dir;
  const auto empty = io::open_file(dir.write("empty", ""));
  EXPECT_EQ(empty->size(), 0u);
  EXPECT_EQ(io::read_text(*empty, 0), "");
  const auto file = io::open_file(dir.write("four", "1234"));
  std::array<std::byte, 4> buffer;
  file->read_at(0, buffer);
  file->read_at(4, {});
  EXPECT_EQ(std::to_integer<char>(buffer[3]), '4');
  for (const uint64_t offset : {uint64_t{1}, uint64_t{5}, UINT64_MAX, UINT64_MAX - 3}) {
    EXPECT_THAT(error_of([&] { file->read_at(offset, buffer); }),
                AllOf(HasSubstr("REMORA_E_IO"), HasSubstr("four")))
        << offset;
  }
  // Letting pages go changes nothing that can be read.
  file->release_pages(0, UINT64_MAX);
  EXPECT_EQ(io::read_text(*file, 4), "1234");
  EXPECT_THAT(error_of([&] { io::read_text(*file, 3); }), HasSubstr("at most 3"));
}

TEST(IsInsideName, AcceptsPlainAndNestedNamesOnly) {
  for (const std::string_view name : {"a", "a.b", "a/b", "..a", "a..", "...", "модель"}) {
    EXPECT_TRUE(io::is_inside_name(name)) << name;
  }
  for (const std::string_view name :
       {std::string_view(""), std::string_view("/a"), std::string_view("../a"),
        std::string_view("a/.."), std::string_view("a/../b"), std::string_view("."),
        std::string_view("a//b"), std::string_view("a/"), std::string_view("a\\b"),
        std::string_view("a\0b", 3)}) {
    EXPECT_FALSE(io::is_inside_name(name)) << name;
  }
}

TEST(Printable, HostileBytesCanNeitherGarbleNorFloodAMessage) {
  EXPECT_EQ(io::printable("plain модель"), "plain модель");
  EXPECT_EQ(io::printable(std::string_view("a\0\n\x1b[31m\x7f", 9)), "a\\x00\\x0a\\x1b[31m\\x7f");
  EXPECT_EQ(io::printable("\xff\xc0\xaf\xed\xa0\x80\xf5\xc3"),
            "\\xff\\xc0\\xaf\\xed\\xa0\\x80\\xf5\\xc3");
  EXPECT_EQ(io::printable(std::string(1000, 'x'), 5), "xxxxx...");
}

}  // namespace
}  // namespace remora::test
