#include "base/concat.h"

#include <gtest/gtest.h>

#include <locale>
#include <vector>

namespace remora {
namespace {

TEST(Concat, JoinsTextNumbersAndBools) {
  const std::string text = "s";
  EXPECT_EQ(concat("literal ", text, ' ', -3, ' ', uint64_t{1} << 63, ' ', 0.5, ' ', true),
            "literal s -3 9223372036854775808 0.5 true");
}

struct Grouping : std::numpunct<char> {
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Concat, IgnoresTheHostsLocale) {
  const std::locale before = std::locale::global(std::locale(std::locale(), new Grouping));
  EXPECT_EQ(concat(1234567), "1234567");
  std::locale::global(before);
}

TEST(Concat, ShapesReadLikeTheErrorMessages) {
  EXPECT_EQ(shape_text(std::vector<int64_t>{64, 60}), "[64,60]");
  EXPECT_EQ(shape_text({}), "[]");
}

}  // namespace
}  // namespace remora
