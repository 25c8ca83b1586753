#include "io/zip_archive.h"

#include <gmock/gmock.h>

#include "io/archive_builder.h"
#include "io/memory_source.h"

namespace remora::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

io::ZipArchive open(std::string_view bytes) {
  return io::ZipArchive(memory_source("f.zip", bytes));
}
std::string error_for(std::string_view bytes) {
  return error_of([&] { open(bytes); });
}

TEST(ZipArchive, FindsEachMemberWithAndWithoutZip64) {
  for (const bool zip64 : {false, true}) {
    const std::string bytes = zip({{"b", "two"}, {"a", "one"}, {"empty", ""}}, zip64);
    const io::ZipArchive archive = open(bytes);
    EXPECT_EQ(archive.members().size(), 3u);
    ASSERT_NE(archive.find("b"), nullptr);
    EXPECT_EQ(bytes.substr(archive.find("b")->offset, archive.find("b")->size), "two");
    EXPECT_EQ(archive.find("empty")->size, 0u);
    EXPECT_EQ(archive.find("c"), nullptr);
  }
}

TEST(ZipArchive, ACommentAtTheEndIsPassedOver) {
  std::string bytes = zip({{"a", "one"}});
  bytes[bytes.size() - 2] = 5;
  // Looks like the record itself, yet its own comment length does not fit.
  EXPECT_EQ(open(bytes + "PK\x05\x06!").members().size(), 1u);
}

TEST(ZipArchive, RB_48_CompressedAndEncryptedMembersAreNamed) {
  EXPECT_THAT(error_for(zip({{"m/data.pkl", "x", 8}})),
              AllOf(HasSubstr("m/data.pkl"), HasSubstr("compressed")));
  EXPECT_THAT(error_for(zip({{"secret", "x", 0, 1}})),
              AllOf(HasSubstr("secret"), HasSubstr("encrypted")));
}

TEST(ZipArchive, MembersThatLieAreRefused) {
  EXPECT_THAT(error_for(zip({{"a", "one"}, {"a", "two"}})), HasSubstr("twice"));
  for (const bool zip64 : {false, true}) {
    for (const uint64_t lie : {uint64_t{100}, uint64_t{0xFFFFFFFE}, UINT64_MAX - 1}) {
      if (!zip64 && lie > UINT32_MAX) continue;
      EXPECT_THAT(error_for(zip({{"a", "one", 0, 0, lie}}, zip64)), HasSubstr("member a")) << lie;
      EXPECT_THAT(error_for(zip({{"a", "one", 0, 0, 3, lie}}, zip64)), HasSubstr("member a"))
          << lie;
    }
  }
  EXPECT_THAT(error_for(zip({{"a", "one", 0, 0, 3, 2}})), HasSubstr("no header"));
}

TEST(ZipArchive, EveryCutAndEveryFlippedBitIsAnErrorOrAnArchiveInsideTheFile) {
  for (const bool zip64 : {false, true}) {
    const std::string whole = zip({{"a", "one"}, {"b", "two"}}, zip64);
    for (size_t length = 0; length < whole.size(); ++length) {
      EXPECT_THAT(error_for(std::string_view(whole).substr(0, length)),
                  HasSubstr("REMORA_E_FORMAT: f.zip: "))
          << length;
    }
    for (size_t bit = 0; bit < whole.size() * 8; ++bit) {
      std::string changed = whole;
      changed[bit / 8] = static_cast<char>(changed[bit / 8] ^ (1 << bit % 8));
      error_of([&] {
        const io::ZipArchive archive = open(changed);
        for (const io::ZipMember& member : archive.members()) {
          EXPECT_LE(member.offset + member.size, changed.size()) << bit;
        }
      });
    }
  }
}

}  // namespace
}  // namespace remora::test
