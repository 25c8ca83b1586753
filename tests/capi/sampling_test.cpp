// Sampling at its edges, in both precisions, and logits that cannot be sampled.
#include <cmath>
#include <cstring>

#include "capi_test.h"

namespace remora::capi_test {
namespace {

constexpr int32_t kCodebooks = 6;
using Frames = std::vector<std::vector<int32_t>>;

Owned<remora_model> open_in(const std::string& folder, remora_dtype dtype) {
  remora_model_params params;
  EXPECT_OK(remora_model_params_init(&params, sizeof params));
  params.dtype = dtype;
  remora_model* model = nullptr;
  EXPECT_OK(remora_model_open(folder.c_str(), &params, &model));
  return Owned<remora_model>(model);
}

remora_sampling defaults() {
  remora_sampling sampling;
  EXPECT_OK(remora_sampling_init(&sampling, sizeof sampling));
  sampling.max_frames = 12;
  sampling.max_frames_per_byte = 0;
  return sampling;
}

Frames frames_with(remora_session* session, const remora_sampling& sampling) {
  EXPECT_OK(remora_session_set_sampling(session, &sampling));
  const remora_prompt prompt = text_prompt("Hello world.");
  EXPECT_OK(remora_session_prefill(session, &prompt));
  return run_frames(session, kCodebooks);
}

TEST(Sampling, RB_41_edge_values_draw_in_both_precisions_and_zero_is_greedy) {
  for (const remora_dtype dtype : {REMORA_DTYPE_F32, REMORA_DTYPE_BF16}) {
    const auto model = open_in(data("lm/s2pro_tiny"), dtype);
    const auto session = open_session(model.get());
    remora_sampling sampling = defaults();
    sampling.ras_window = 0;  // else greedy and nearly greedy differ by the second draws
    sampling.temperature = 0;
    const Frames greedy = frames_with(session.get(), sampling);
    EXPECT_EQ(greedy.size(), 12U);
    sampling.temperature = 0.7F;
    sampling.top_k = 1;
    EXPECT_EQ(frames_with(session.get(), sampling), greedy) << "one candidate is the likeliest";
    sampling.top_k = 30;
    for (const float temperature : {1e-8F, 1e-4F}) {
      sampling.temperature = temperature;
      EXPECT_EQ(frames_with(session.get(), sampling), greedy) << temperature;
    }
    sampling.temperature = 0.7F;
    sampling.top_p = 1e-9F;
    EXPECT_EQ(frames_with(session.get(), sampling), greedy) << "the first entry stays";
    for (const int32_t top_k : {832, 1 << 30}) {
      sampling = defaults();
      sampling.top_p = 1;
      sampling.temperature = 2;
      sampling.top_k = top_k;
      EXPECT_NE(frames_with(session.get(), sampling), greedy) << top_k;
    }
  }
}

TEST(Sampling, RB_41_values_out_of_range_name_the_field_and_change_nothing) {
  const auto model = open_model("s2pro_tiny", false);
  const auto session = open_session(model.get());
  const Frames before = frames_with(session.get(), defaults());
  const struct {
    const char* field;
    float value;
  } cases[] = {{"temperature", 100}, {"temperature", -1}, {"temperature", NAN}, {"top_p", 0},
               {"top_p", 1.5F},      {"top_p", -1},       {"top_p", NAN},       {"top_k", 0},
               {"top_k", -1},        {"max_frames", -1},  {"ras_window", -1}};
  for (const auto& [field, value] : cases) {
    remora_sampling sampling = defaults();
    const std::string name = field;
    if (name == "temperature") sampling.temperature = value;
    if (name == "top_p") sampling.top_p = value;
    if (name == "top_k") sampling.top_k = static_cast<int32_t>(value);
    if (name == "max_frames") sampling.max_frames = static_cast<int32_t>(value);
    if (name == "ras_window") sampling.ras_window = static_cast<int32_t>(value);
    EXPECT_EQ(remora_session_set_sampling(session.get(), &sampling), REMORA_E_INVALID_ARGUMENT)
        << field << " " << value;
    EXPECT_NE(std::strstr(remora_last_error(), field), nullptr) << remora_last_error();
  }
  remora_sampling sampling = defaults();
  sampling.repetition_penalty = 1.3F;
  EXPECT_EQ(remora_session_set_sampling(session.get(), &sampling), REMORA_E_UNSUPPORTED);
  EXPECT_NE(std::strstr(remora_last_error(), "repetition_penalty"), nullptr);
  const remora_prompt prompt = text_prompt("Hello world.");
  ASSERT_OK(remora_session_prefill(session.get(), &prompt));
  EXPECT_EQ(run_frames(session.get(), kCodebooks), before) << "no half-taken setting";
}

// The bytes of tensor `name` in a safetensors file: where they start, and how many a row has.
struct RowsOf {
  RowsOf(const std::string& file, const std::string& name, size_t columns)
      : row_bytes(columns * 2) {  // bfloat16
    uint64_t header = 0;
    std::memcpy(&header, file.data(), sizeof header);
    const std::string key = "\"" + name + "\"";
    size_t at = file.find(key);
    EXPECT_NE(at, std::string::npos) << name;
    at = file.find("\"data_offsets\"", at);
    at = file.find('[', at) + 1;
    start = 8 + header + std::stoul(file.substr(at, file.find(',', at) - at));
  }
  size_t start = 0;
  size_t row_bytes;
};

// A checkpoint whose embedding of the token behind "7" is not a number.
void spoil_sevens(const CheckpointCopy& copy) {
  const auto model = open_in(data("lm/s2pro_tiny"), REMORA_DTYPE_F32);
  int32_t id = 0;
  size_t needed = 0;
  ASSERT_OK(remora_model_tokenize(model.get(), "7", 1, 0, &id, 1, &needed));
  for (const std::string shard :
       {"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"}) {
    std::string bytes = copy.read(shard);
    const std::string name = "text_model.model.embeddings.weight";
    if (bytes.find("\"" + name + "\"") == std::string::npos) continue;
    const RowsOf rows(bytes, name, 64);
    for (size_t i = 0; i < rows.row_bytes; i += 2) {
      bytes[rows.start + static_cast<size_t>(id) * rows.row_bytes + i] = '\xc0';
      bytes[rows.start + static_cast<size_t>(id) * rows.row_bytes + i + 1] = '\x7f';
    }
    copy.write(shard, bytes);
  }
}

TEST(Sampling, RB_41_logits_that_are_no_numbers_are_an_error_and_the_session_recovers) {
  const CheckpointCopy copy("s2pro_tiny");
  spoil_sevens(copy);
  for (const remora_dtype dtype : {REMORA_DTYPE_F32, REMORA_DTYPE_BF16}) {
    const auto model = open_in(copy.path(), dtype);
    for (const remora_kv_mode mode : {REMORA_KV_ACTIVE_PREFIX, REMORA_KV_FULL, REMORA_KV_GRAPH}) {
      remora_session_params params;
      ASSERT_OK(remora_session_params_init(&params, sizeof params));
      params.kv_mode = mode;
      params.capacity = 128;
      const auto session = open_session(model.get(), &params);
      const Frames good = frames_with(session.get(), defaults());
      for (const float temperature : {0.0F, 0.7F}) {
        remora_sampling sampling = defaults();
        sampling.temperature = temperature;
        ASSERT_OK(remora_session_set_sampling(session.get(), &sampling));
        // More columns than the good prompt has: its run finds them behind its own.
        const remora_prompt bad = text_prompt("A seven is 7, said again and again and again: 777.");
        ASSERT_OK(remora_session_prefill(session.get(), &bad));
        EXPECT_EQ(remora_session_step(session.get(), nullptr), REMORA_E_NUMERIC) << mode;
        EXPECT_NE(std::strstr(remora_last_error(), "slow model"), nullptr) << remora_last_error();
        EXPECT_EQ(stats_of(session.get()).finish, REMORA_FINISH_ERROR);
        EXPECT_EQ(remora_session_step(session.get(), nullptr), REMORA_E_INVALID_STATE);
        ASSERT_OK(remora_session_reset(session.get()));
        EXPECT_EQ(frames_with(session.get(), defaults()), good)
            << "mode " << mode << ": nothing is left of it, whatever lies behind the prefix";
      }
    }
  }
}

}  // namespace
}  // namespace remora::capi_test
