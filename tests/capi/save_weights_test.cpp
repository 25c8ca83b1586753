// remora_model_save_weights and remora_model_weight_error: quantised checkpoints through the C ABI.
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "capi_test.h"

namespace remora::capi_test {
namespace {

namespace fs = std::filesystem;

Owned<remora_model> open_with(const std::string& folder, remora_weights weights,
                              int32_t int4_group = 0, uint32_t flags = 0) {
  remora_model_params params;
  EXPECT_OK(remora_model_params_init(&params, sizeof params));
  params.weights = weights;
  params.int4_group = int4_group;
  params.flags = flags;
  remora_model* model = nullptr;
  EXPECT_OK(remora_model_open(folder.c_str(), &params, &model));
  return Owned<remora_model>(model);
}

remora_model_info info_of(const remora_model* model) {
  remora_model_info info{};
  info.struct_size = sizeof info;
  EXPECT_OK(remora_model_describe(model, &info));
  return info;
}

std::vector<std::vector<int32_t>> codes_of(const remora_model* model) {
  const auto session = open_session(model);
  const remora_sampling sampling = greedy(8);
  EXPECT_OK(remora_session_set_sampling(session.get(), &sampling));
  const remora_prompt prompt = text_prompt("Hello world.");
  EXPECT_OK(remora_session_prefill(session.get(), &prompt));
  return run_frames(session.get(), info_of(model).n_codebooks);
}

// The tiny checkpoint with its weights replaced by quantised ones; codec and tokenizer stay.
class QuantisedCopy {
 public:
  QuantisedCopy(const std::string& family, remora_weights weights, int32_t group)
      : path_(testing::TempDir() + "remora_quantised_" + std::to_string(getpid())) {
    fs::remove_all(path_);
    fs::copy(tiny(family), path_);
    const auto model = open_with(path_, weights, group, REMORA_MODEL_NO_CODEC);
    EXPECT_OK(remora_model_save_weights(model.get(), file().c_str(), nullptr, nullptr));
  }
  ~QuantisedCopy() { fs::remove_all(path_); }
  QuantisedCopy(const QuantisedCopy&) = delete;
  QuantisedCopy& operator=(const QuantisedCopy&) = delete;
  const std::string& path() const { return path_; }
  std::string file() const { return path_ + "/model.safetensors"; }

 private:
  std::string path_;
};

TEST(SaveWeights, TheSavedCheckpointSpeaksAsTheConvertedOneAndSaysWhatItIs) {
  for (const std::string family : {"s2-pro", "s1-mini"}) {
    for (const auto& [weights, group] : {std::pair{REMORA_WEIGHTS_INT8, 0},
                                         {REMORA_WEIGHTS_INT4, 32},
                                         {REMORA_WEIGHTS_INT4, 64}}) {
      const QuantisedCopy copy(family, weights, group);
      const auto converted = open_with(tiny(family), weights, group);
      const auto saved = open_with(copy.path(), REMORA_WEIGHTS_AS_DTYPE);
      const remora_model_info info = info_of(saved.get());
      EXPECT_EQ(info.weights, weights);
      EXPECT_EQ(info.int4_group, group);
      EXPECT_EQ(info.saved_weights, 1);
      EXPECT_EQ(info.has_codec, 1);
      EXPECT_EQ(info_of(converted.get()).int4_group, group);
      EXPECT_EQ(info_of(converted.get()).saved_weights, 0);
      EXPECT_EQ(codes_of(saved.get()), codes_of(converted.get()));
    }
  }
}

TEST(SaveWeights, AnEstimateOfASavedCheckpointIsWhatItTakes) {
  const QuantisedCopy copy("s2-pro", REMORA_WEIGHTS_INT4, 32);
  remora_source* raw = nullptr;
  ASSERT_OK(remora_source_create(&raw));
  const Owned<remora_source> source(raw);
  ASSERT_OK(remora_source_add_dir(raw, copy.path().c_str()));
  remora_memory estimate{}, taken{};
  estimate.struct_size = taken.struct_size = sizeof estimate;
  ASSERT_OK(remora_model_estimate(raw, nullptr, &estimate));
  ASSERT_OK(remora_model_memory(open_with(copy.path(), REMORA_WEIGHTS_AS_DTYPE).get(), &taken));
  EXPECT_EQ(std::memcmp(&estimate, &taken, sizeof estimate), 0);
  EXPECT_GT(estimate.weights, 0U);
  remora_model_params params;
  ASSERT_OK(remora_model_params_init(&params, sizeof params));
  params.weights = REMORA_WEIGHTS_INT8;
  EXPECT_EQ(remora_model_estimate(raw, &params, &estimate), REMORA_E_UNSUPPORTED);
  EXPECT_NE(std::strstr(remora_last_error(), "holds int4"), nullptr) << remora_last_error();
}

int32_t REMORA_CALL stop_late(void* user, float fraction) {
  auto& calls = *static_cast<int*>(user);
  EXPECT_GE(fraction, 0);
  EXPECT_LE(fraction, 1);
  return ++calls == 3;
}

TEST(SaveWeights, AStopOrAnErrorLeavesNothingBehind) {
  const fs::path folder = testing::TempDir() + "remora_stop_" + std::to_string(getpid());
  fs::create_directories(folder);
  const std::string file = folder / "model.safetensors";
  const auto model = open_with(tiny("s2-pro"), REMORA_WEIGHTS_INT8);
  int calls = 0;
  EXPECT_EQ(remora_model_save_weights(model.get(), file.c_str(), stop_late, &calls),
            REMORA_E_CANCELLED);
  EXPECT_EQ(calls, 3);
  const auto plain = open_with(tiny("s2-pro"), REMORA_WEIGHTS_AS_DTYPE);
  EXPECT_EQ(remora_model_save_weights(plain.get(), file.c_str(), nullptr, nullptr),
            REMORA_E_UNSUPPORTED);
  const auto codec = open_with(tiny("s2-pro"), REMORA_WEIGHTS_INT8, 0, REMORA_MODEL_NO_LM);
  EXPECT_EQ(remora_model_save_weights(codec.get(), file.c_str(), nullptr, nullptr),
            REMORA_E_UNSUPPORTED);
  EXPECT_TRUE(fs::is_empty(folder));
  EXPECT_EQ(remora_model_save_weights(model.get(), folder.c_str(), nullptr, nullptr), REMORA_E_IO);
  EXPECT_EQ(remora_model_save_weights(model.get(), nullptr, nullptr, nullptr),
            REMORA_E_INVALID_ARGUMENT);
  EXPECT_EQ(remora_model_save_weights(nullptr, file.c_str(), nullptr, nullptr),
            REMORA_E_INVALID_ARGUMENT);
  fs::remove_all(folder);
}

int32_t REMORA_CALL destroy_model(void* user, float /*fraction*/) {
  static_cast<Owned<remora_model>*>(user)->reset();
  return 0;
}

TEST(SaveWeights, AModelThatItsCallbackDestroysIsSavedToTheEnd) {
  const std::string file = testing::TempDir() + "remora_destroyed_" + std::to_string(getpid());
  auto model = open_with(tiny("s2-pro"), REMORA_WEIGHTS_INT8, 0, REMORA_MODEL_NO_CODEC);
  EXPECT_OK(remora_model_save_weights(model.get(), file.c_str(), destroy_model, &model));
  EXPECT_EQ(model, nullptr);
  EXPECT_GT(fs::file_size(file), 0U);
  fs::remove(file);
}

TEST(WeightError, EachKindOfMatrixIsToldUntilTheEnd) {
  const auto model = open_with(tiny("s2-pro"), REMORA_WEIGHTS_INT4, 32, REMORA_MODEL_WEIGHT_ERRORS);
  std::vector<std::string> layers;
  remora_weight_error error{};
  error.struct_size = sizeof error;
  while (remora_model_weight_error(model.get(), layers.size(), &error) == REMORA_OK) {
    layers.emplace_back(error.layer);
    const bool slow = layers.back().starts_with("layers.");
    EXPECT_EQ(error.weights, slow ? REMORA_WEIGHTS_INT4 : REMORA_WEIGHTS_INT8) << layers.back();
    EXPECT_EQ(error.int4_group, slow ? 32 : 0) << layers.back();
    EXPECT_GT(error.numbers, 0U);
    EXPECT_GT(error.relative_error, 0);
    EXPECT_LT(error.relative_error, slow ? 0.2F : 0.02F) << layers.back();
    EXPECT_GT(error.largest_error, 0);
    EXPECT_LT(error.largest_error, error.largest_number);
  }
  EXPECT_EQ(layers.size(), 12U);
  EXPECT_EQ(remora_model_weight_error(model.get(), layers.size(), &error), REMORA_END);
  EXPECT_EQ(remora_model_weight_error(model.get(), SIZE_MAX, &error), REMORA_END);
  EXPECT_EQ(remora_model_weight_error(model.get(), 0, nullptr), REMORA_E_INVALID_ARGUMENT);
  error.struct_size = 4;
  EXPECT_EQ(remora_model_weight_error(model.get(), 0, &error), REMORA_E_ABI);
}

TEST(WeightError, IsAnErrorWhereNothingWasMeasured) {
  const QuantisedCopy copy("s2-pro", REMORA_WEIGHTS_INT8, 0);
  remora_weight_error error{};
  error.struct_size = sizeof error;
  for (const auto& model :
       {open_with(tiny("s2-pro"), REMORA_WEIGHTS_INT8),
        open_with(tiny("s2-pro"), REMORA_WEIGHTS_AS_DTYPE, 0, REMORA_MODEL_WEIGHT_ERRORS),
        open_with(copy.path(), REMORA_WEIGHTS_INT8, 0, REMORA_MODEL_WEIGHT_ERRORS)}) {
    EXPECT_EQ(remora_model_weight_error(model.get(), 0, &error), REMORA_E_INVALID_STATE);
  }
}

TEST(ModelParams, AGroupThatNoKernelReadsIsRefused) {
  remora_model_params params;
  ASSERT_OK(remora_model_params_init(&params, sizeof params));
  params.weights = REMORA_WEIGHTS_INT4;
  params.int4_group = 16;
  remora_model* model = nullptr;
  EXPECT_EQ(remora_model_open(tiny("s2-pro").c_str(), &params, &model), REMORA_E_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(remora_last_error(), "groups of 16"), nullptr) << remora_last_error();
}

}  // namespace
}  // namespace remora::capi_test
