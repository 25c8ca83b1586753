// Memory of the KV cache: by what is asked for, not by what the checkpoint could do.
#include <unistd.h>

#include <fstream>

#include "capi_test.h"

namespace remora::capi_test {
namespace {

constexpr int64_t kMiB = 1 << 20;
constexpr int32_t kCodebooks = 6;

// Bytes of this process in memory; -1 where the system does not tell.
int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0, resident = 0;
  if (!(statm >> total >> resident)) return -1;
  return resident * ::sysconf(_SC_PAGESIZE);
}

// The tiny checkpoint with another max_seq_len in its config.json.
Owned<remora_model> open_with_max_seq_len(const CheckpointCopy& copy, const std::string& length) {
  std::string config = copy.read("config.json");
  const std::string original = "\"max_seq_len\": 2560";
  const size_t at = config.find(original);
  EXPECT_NE(at, std::string::npos);
  copy.write("config.json", config.replace(at, original.size(), "\"max_seq_len\": " + length));
  remora_model* model = nullptr;
  EXPECT_OK(remora_model_open(copy.path().c_str(), nullptr, &model));
  return Owned<remora_model>(model);
}

// The stats after "Hello." and up to 20 frames.
remora_stats after_hello(const remora_model* model, int32_t capacity) {
  remora_session_params params;
  EXPECT_OK(remora_session_params_init(&params, sizeof params));
  params.capacity = capacity;
  const auto session = open_session(model, &params);
  const remora_sampling sampling = greedy(20);
  EXPECT_OK(remora_session_set_sampling(session.get(), &sampling));
  const remora_prompt prompt = text_prompt("Hello.");
  EXPECT_OK(remora_session_prefill(session.get(), &prompt));
  EXPECT_FALSE(run_frames(session.get(), kCodebooks).empty());
  const remora_stats stats = stats_of(session.get());
  testing::Test::RecordProperty("kv_bytes_at_" + std::to_string(capacity),
                                std::to_string(stats.kv_bytes));
  return stats;
}

TEST(Cache, RB_01_follows_the_request_or_the_capacity_and_not_max_seq_len) {
  after_hello(open_model("s2pro_tiny", false).get(), 0);  // LibTorch's own first-use memory
  for (const std::string max_seq_len : {"32768", "4096"}) {
    const CheckpointCopy copy("s2pro_tiny");
    const int64_t before = resident_bytes();
    const auto model = open_with_max_seq_len(copy, max_seq_len);
    const int64_t loaded = resident_bytes();
    remora_memory memory{};
    memory.struct_size = sizeof memory;
    ASSERT_OK(remora_model_memory(model.get(), &memory));
    const uint64_t row = memory.kv_per_position;  // 1.5 KiB: 32768 of them are 48 MiB
    ASSERT_EQ(row, 2U * 3 * 2 * 32 * 4) << "K and V, layers, heads, head size, float32";
    // Weights, tokenizer and what loading used in between, all of which is far below 48 MiB.
    if (before >= 0) {
      EXPECT_LT(loaded - before, 12 * kMiB) << "a load alone holds weights only";
    }

    const remora_stats grown = after_hello(model.get(), 0);
    EXPECT_EQ(grown.kv_bytes, static_cast<uint64_t>(grown.kv_capacity) * row);
    EXPECT_GE(grown.kv_capacity, grown.kv_len);
    EXPECT_LE(grown.kv_capacity, 256) << "for some 50 columns";
    const remora_stats asked = after_hello(model.get(), 512);
    EXPECT_EQ(asked.kv_capacity, 512);
    EXPECT_EQ(asked.kv_bytes, 512 * row);
    // All of it: reserved, but what was never written takes no memory.
    const remora_stats whole = after_hello(model.get(), std::stoi(max_seq_len));
    EXPECT_EQ(whole.kv_bytes, std::stoul(max_seq_len) * row);
    if (before >= 0) {
      EXPECT_LT(resident_bytes() - before, 16 * kMiB);
    }
  }
}

}  // namespace
}  // namespace remora::capi_test
