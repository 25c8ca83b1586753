#include <gtest/gtest.h>

#include "model_loading.h"

namespace remora::cli {
namespace {

constexpr uint64_t kSmall = 25 << 20;
constexpr uint64_t kLarge = 900 << 20;

TEST(Threads, SmallModelsGetOneUnlessSomeoneDecided) {
  ModelOptions options;
  EXPECT_EQ(threads_for(options, kSmall, nullptr), 1);
  EXPECT_EQ(threads_for(options, kSmall, ""), 1);
  EXPECT_EQ(threads_for(options, kSmall, "4"), 0);
  options.threads = 2;
  EXPECT_EQ(threads_for(options, kSmall, nullptr), 0);
}

TEST(Threads, LargeModelsKeepLibTorchsChoice) {
  EXPECT_EQ(threads_for(ModelOptions(), kLarge, nullptr), 0);
}

}  // namespace
}  // namespace remora::cli
