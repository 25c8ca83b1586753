#include "text/normalizer.h"

#include <gtest/gtest.h>

#include <ctime>

#include "text/utf8.h"

namespace remora::text {
namespace {

TEST(Normalizer, ComposesOrdersAndKeepsTheRest) {
  EXPECT_EQ(to_nfc("plain"), "plain");
  EXPECT_EQ(to_nfc("cafe\u0301"), "caf\u00e9");
  EXPECT_EQ(to_nfc("s\u0307\u0323"), "\u1e69");  // marks change places before they compose
  EXPECT_EQ(to_nfc("\u1112\u1161\u11ab"), "\ud55c");
  EXPECT_EQ(to_nfc("\u212b"), "\u00c5");
  EXPECT_EQ(to_nfc("\u0958"), "\u0915\u093c");  // a composition exclusion
  EXPECT_EQ(to_nfc("\ufb01"), "\ufb01");        // compatibility forms stay
  EXPECT_EQ(to_nfc(std::string("a\0\u0301", 4)), std::string("a\0\u0301", 4));
}

TEST(Normalizer, SurelyMeansUnchanged) {
  for (char32_t c = 0; c < 0x300; ++c) {
    std::string text;
    append_utf8(text, c);
    EXPECT_TRUE(is_surely_nfc(text));
    // Through the long way round: a mark that composes with nothing stands in front.
    EXPECT_EQ(to_nfc("\u0488" + text), "\u0488" + text) << static_cast<uint32_t>(c);
  }
  EXPECT_FALSE(is_surely_nfc("e\u0301"));
}

TEST(Normalizer, AMegabyteOfUnorderedMarksIsQuick) {
  std::string text = "a";
  while (text.size() < 1 << 20) text += "\u0301\u0323\u0f73";
  const std::clock_t start = std::clock();  // of this process: a busy machine does not count
  const std::string normal = to_nfc(text);
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  EXPECT_GT(normal.size(), text.size() / 2);
  // Takes 0.1 s; swapping neighbours would take hours, sanitizers cost a factor of 10.
  EXPECT_LT(seconds, 20);
}

}  // namespace
}  // namespace remora::text
