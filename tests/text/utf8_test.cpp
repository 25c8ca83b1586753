#include "text/utf8.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "memory_files.h"

namespace remora::text {
namespace {

using test::error_of;
using testing::HasSubstr;

struct BadCase {
  std::string bytes;
  size_t offset;
  std::string reason;
};

TEST(RB_25_utf8, EveryKindOfBadByteHasItsOffset) {
  const std::vector<BadCase> cases = {
      {"abc\x80", 3, "continuation byte"},
      {"\xFF", 0, "never uses"},
      {"\xF5\x80\x80\x80", 0, "never uses"},
      {"ok \xF0\x9F\x98", 3, "cut off at the end"},
      {"\xF0\x9F\x98x", 0, "cut off"},
      {"1234567890123456\xED\xA0\x80", 16, "surrogate"},
      {"\xC0\x80", 0, "overlong"},
      {"\xC1\xBF", 0, "overlong"},
      {"\xE0\x80\x80", 0, "overlong"},
      {"\xF0\x80\x80\x80", 0, "overlong"},
      {"\xF4\x90\x80\x80", 0, "above U+10FFFF"},
      {"\xC3", 0, "cut off at the end"},
      {std::string(1 << 20, '\xF0'), 0, "cut off"},
  };
  for (const BadCase& bad : cases) {
    const std::string text =
        error_of(Status::kInvalidArgument, [&] { require_utf8(bad.bytes, Nul::kAllowed); });
    EXPECT_THAT(text,
                HasSubstr("text: byte " + std::to_string(bad.offset) + " is not valid UTF-8"));
    EXPECT_THAT(text, HasSubstr(bad.reason));
  }
}

TEST(RB_25_utf8, EveryScalarValueIsValidAndComesBack) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string bytes;
    append_utf8(bytes, c);
    ASSERT_FALSE(find_utf8_fault(bytes)) << static_cast<uint32_t>(c);
    ASSERT_EQ(code_point_at(bytes, 0).value, c);
    ASSERT_EQ(code_point_at(bytes, 0).length, bytes.size());
    ASSERT_EQ(code_point_before("x" + bytes, bytes.size() + 1).value, c);
  }
}

TEST(RB_25_utf8, NulIsACodePointUnlessTheCallerRefusesIt) {
  const std::string nul("ab\0c", 4);
  EXPECT_NO_THROW(require_utf8(nul, Nul::kAllowed));
  EXPECT_THAT(error_of(Status::kInvalidArgument, [&] { require_utf8(nul, Nul::kRefused); }),
              HasSubstr("text: byte 2 is NUL"));
}

TEST(RB_25_utf8, ByteOrderMarkIsDroppedAtTheStartOnly) {
  EXPECT_EQ(drop_bom("\xEF\xBB\xBFhi"), "hi");
  EXPECT_EQ(drop_bom("hi\xEF\xBB\xBF"), "hi\xEF\xBB\xBF");
  EXPECT_EQ(drop_bom("\xEF\xBB"), "\xEF\xBB");
}

TEST(Utf8, InvalidPartsAreReplacedOneByOne) {
  EXPECT_EQ(replace_invalid_utf8("ok"), "ok");
  EXPECT_EQ(replace_invalid_utf8("a\x80z"), "a\xEF\xBF\xBDz");
  // A cut sequence is one part, two stray bytes are two.
  EXPECT_EQ(replace_invalid_utf8("\xF0\x9F\x98"), "\xEF\xBF\xBD");
  EXPECT_EQ(replace_invalid_utf8("\xFF\xFE"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

}  // namespace
}  // namespace remora::text
