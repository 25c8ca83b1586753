// Opening checkpoints: what is asked for is what one gets, and bad folders are refused in words.
#include <cstring>
#include <filesystem>
#include <fstream>

#include "capi_test.h"

namespace remora::capi_test {
namespace {

namespace fs = std::filesystem;

remora_status open_status(const fs::path& folder) {
  remora_model* model = reinterpret_cast<remora_model*>(1);
  const remora_status status = remora_model_open(folder.c_str(), nullptr, &model);
  EXPECT_EQ(model != nullptr, status == REMORA_OK);
  remora_model_destroy(model);
  return status;
}

TEST(Model, MissingAndEmptyFoldersSaySo) {
  EXPECT_EQ(open_status("/no/such/folder"), REMORA_E_IO);
  EXPECT_NE(std::strstr(remora_last_error(), "/no/such/folder"), nullptr);
  const fs::path empty = testing::TempDir() + "remora_empty";
  fs::create_directories(empty);
  EXPECT_EQ(open_status(empty), REMORA_E_IO);
  EXPECT_NE(std::strstr(remora_last_error(), "config.json"), nullptr) << remora_last_error();
  fs::remove(empty);
  EXPECT_EQ(open_status(data("lm/cases.json")), REMORA_E_IO);
}

TEST(Model, RB_49_every_file_cut_anywhere_is_an_error_and_the_next_load_works) {
  for (const std::string name : {"s2pro_tiny", "s1mini_tiny"}) {
    for (const auto& entry : fs::directory_iterator(data("lm/" + name))) {
      const std::string file = entry.path().filename();
      // Not needed by this library.
      if (file == "tokenizer_config.json" || file == "special_tokens_map.json") continue;
      for (const int percent : {0, 10, 50}) {
        const CheckpointCopy copy(name);
        fs::resize_file(copy.path() / file, entry.file_size() * static_cast<size_t>(percent) / 100);
        EXPECT_LT(open_status(copy.path()), 0) << file << " cut at " << percent << " %";
        EXPECT_NE(std::strstr(remora_last_error(), file.substr(0, 5).c_str()), nullptr)
            << file << ": " << remora_last_error();
      }
    }
    EXPECT_EQ(open_status(data("lm/" + name)), REMORA_OK) << remora_last_error();
  }
}

TEST(Model, AnotherModelTypeIsNamed) {
  const CheckpointCopy copy("s1mini_tiny");
  std::ofstream(copy.path() / "config.json") << R"({"model_type": "llama"})";
  EXPECT_EQ(open_status(copy.path()), REMORA_E_UNSUPPORTED);
  EXPECT_NE(std::strstr(remora_last_error(), "llama"), nullptr) << remora_last_error();
}

int32_t REMORA_CALL stop_at_once(void* user, float fraction) {
  EXPECT_GE(fraction, 0);
  EXPECT_LE(fraction, 1);
  ++*static_cast<int*>(user);
  return 1;
}

TEST(Model, TheProgressCallbackStopsALoad) {
  remora_model_params params;
  ASSERT_OK(remora_model_params_init(&params, sizeof params));
  int calls = 0;
  params.progress = stop_at_once;
  params.progress_user = &calls;
  remora_model* model = nullptr;
  EXPECT_EQ(remora_model_open(data("lm/s2pro_tiny").c_str(), &params, &model), REMORA_E_CANCELLED);
  EXPECT_EQ(model, nullptr);
  EXPECT_GE(calls, 1);
}

TEST(Model, QuantisedWeightsAreSmallerAndSpeak) {
  auto open = [](remora_weights weights) {
    remora_model_params params;
    EXPECT_OK(remora_model_params_init(&params, sizeof params));
    params.weights = weights;
    remora_model* model = nullptr;
    EXPECT_OK(remora_model_open(data("lm/s2pro_tiny").c_str(), &params, &model));
    return Owned<remora_model>(model);
  };
  auto weight_bytes = [](const remora_model* model) {
    remora_memory memory{};
    memory.struct_size = sizeof memory;
    EXPECT_OK(remora_model_memory(model, &memory));
    return memory.weights;
  };
  const auto plain = open(REMORA_WEIGHTS_AS_DTYPE);
  for (const remora_weights weights : {REMORA_WEIGHTS_INT8, REMORA_WEIGHTS_INT4}) {
    const auto model = open(weights);
    remora_model_info info{};
    info.struct_size = sizeof info;
    ASSERT_OK(remora_model_describe(model.get(), &info));
    EXPECT_EQ(info.weights, weights);
    EXPECT_EQ(info.dtype, REMORA_DTYPE_BF16);  // AUTO, of a model that is float32 as it stands
    EXPECT_LT(weight_bytes(model.get()), weight_bytes(plain.get()));
    const auto session = open_session(model.get());
    const remora_sampling sampling = greedy(5);
    ASSERT_OK(remora_session_set_sampling(session.get(), &sampling));
    const remora_prompt prompt = text_prompt("Hello world.");
    ASSERT_OK(remora_session_prefill(session.get(), &prompt));
    EXPECT_FALSE(run_frames(session.get(), 6).empty());
  }
}

TEST(Model, TextOnlyLeavesTheWeightsOut) {
  remora_model_params params;
  ASSERT_OK(remora_model_params_init(&params, sizeof params));
  params.flags = REMORA_MODEL_TEXT_ONLY;
  remora_model* raw = nullptr;
  ASSERT_OK(remora_model_open(data("lm/s2pro_tiny").c_str(), &params, &raw));
  const Owned<remora_model> model(raw);
  size_t needed = 0;
  EXPECT_OK(remora_model_tokenize(model.get(), "Hello world.", REMORA_NUL_TERMINATED, 0, nullptr, 0,
                                  &needed));
  EXPECT_EQ(needed, 5U);
  remora_session* session = nullptr;
  EXPECT_EQ(remora_session_create(model.get(), nullptr, &session), REMORA_E_UNSUPPORTED);
}

}  // namespace
}  // namespace remora::capi_test
