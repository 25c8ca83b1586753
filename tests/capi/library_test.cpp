#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <thread>

#include "capi_test.h"

namespace remora::capi_test {
namespace {

TEST(Library, TellsItsVersions) {
  EXPECT_EQ(remora_version() >> 16, 0U);
  EXPECT_EQ(remora_abi_version(), static_cast<uint32_t>(REMORA_ABI_VERSION));
  const std::string info = remora_build_info();
  EXPECT_NE(info.find("LibTorch built against 2."), std::string::npos) << info;
  EXPECT_NE(info.find("loaded 2."), std::string::npos) << info;
}

TEST(Library, NamesEveryStatus) {
  for (int32_t status = REMORA_END; status >= REMORA_E_INTERNAL; --status) {
    EXPECT_STRNE(remora_status_name(status), "REMORA_E_UNKNOWN") << status;
  }
  EXPECT_STREQ(remora_status_name(REMORA_E_IO), "REMORA_E_IO");
  EXPECT_STREQ(remora_status_name(-17), "REMORA_E_UNKNOWN");
  EXPECT_STREQ(remora_status_name(2), "REMORA_E_UNKNOWN");
}

TEST(Library, KeepsTheLastErrorPerThread) {
  EXPECT_EQ(remora_set_threads(0), REMORA_E_INVALID_ARGUMENT);
  const std::string mine = remora_last_error();
  EXPECT_NE(mine.find("intra_op: is 0"), std::string::npos) << mine;
  std::thread([] {
    EXPECT_STREQ(remora_last_error(), "");
    EXPECT_EQ(remora_set_threads(5000), REMORA_E_INVALID_ARGUMENT);
  }).join();
  EXPECT_EQ(remora_last_error(), mine);
  EXPECT_OK(remora_set_threads(1));
  EXPECT_EQ(remora_last_error(), mine) << "success leaves the text alone";
}

struct Lines {
  std::vector<std::string> text;
  std::vector<int32_t> levels;
};

void REMORA_CALL collect(void* user, remora_log_level level, const char* utf8, size_t len) {
  auto& lines = *static_cast<Lines*>(user);
  lines.text.emplace_back(utf8, len);
  lines.levels.push_back(level);
}

TEST(Library, LogsToTheHostOnlyWhenAsked) {
  Lines lines;
  EXPECT_OK(remora_set_log(collect, &lines, REMORA_LOG_DEBUG));
  open_model("s2pro_tiny", true);
  const size_t logged = lines.text.size();
  EXPECT_GT(logged, 0U) << "the codec has more codebooks than the model uses: a warning is due";
  EXPECT_OK(remora_set_log(nullptr, nullptr, REMORA_LOG_ERROR));
  open_model("s2pro_tiny", true);
  EXPECT_EQ(lines.text.size(), logged);
  EXPECT_EQ(remora_set_log(collect, &lines, 9), REMORA_E_INVALID_ARGUMENT);
}

TEST(Library, RefusesToWorkInAForkedChild) {
  const auto model = open_model("s2pro_tiny", false);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    remora_session* session = nullptr;
    const bool refused = remora_session_create(model.get(), nullptr, &session) == REMORA_E_FORKED &&
                         std::strstr(remora_last_error(), "fork") != nullptr;
    _exit(refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

}  // namespace
}  // namespace remora::capi_test
