// The struct_size rules: older and newer callers.
#include <cstring>

#include "capi_test.h"

namespace remora::capi_test {
namespace {

// A struct as a later header might declare it.
template <typename Struct>
struct Newer {
  Struct known;
  uint64_t added;
};

TEST(Structs, InitFillsDefaultsAndTheSizeAsked) {
  remora_sampling sampling;
  std::memset(&sampling, 0xAB, sizeof sampling);
  EXPECT_OK(remora_sampling_init(&sampling, sizeof sampling));
  EXPECT_EQ(sampling.struct_size, sizeof sampling);
  EXPECT_GT(sampling.temperature, 0);
  EXPECT_GT(sampling.top_k, 1);
  EXPECT_EQ(sampling.reserved0, 0);
}

TEST(Structs, ALargerStructIsZeroedPastWhatIsKnown) {
  Newer<remora_prompt> prompt;
  std::memset(&prompt, 0xAB, sizeof prompt);
  EXPECT_OK(remora_prompt_init(&prompt.known, sizeof prompt));
  EXPECT_EQ(prompt.added, 0U);
  EXPECT_EQ(prompt.known.struct_size, sizeof prompt);
}

TEST(Structs, ANewerCallerIsServedUnlessItAsksForTheUnknown) {
  const auto model = open_model("s2pro_tiny", false);
  Newer<remora_session_params> params;
  EXPECT_OK(remora_session_params_init(&params.known, sizeof params));
  remora_session* session = nullptr;
  EXPECT_OK(remora_session_create(model.get(), &params.known, &session));
  remora_session_destroy(session);
  params.added = 1;
  EXPECT_EQ(remora_session_create(model.get(), &params.known, &session), REMORA_E_ABI);
  EXPECT_EQ(session, nullptr);
  EXPECT_NE(std::strstr(remora_last_error(), "session_params.struct_size"), nullptr);
}

TEST(Structs, AnOlderCallersMissingFieldsTakeDefaults) {
  const auto model = open_model("s2pro_tiny", false);
  const auto session = open_session(model.get());
  // As if the struct had ended behind top_k.
  remora_sampling old;
  EXPECT_OK(remora_sampling_init(&old, offsetof(remora_sampling, repetition_penalty)));
  old.max_frames = -5;  // past its end: must not be read
  EXPECT_OK(remora_session_set_sampling(session.get(), &old));
}

TEST(Structs, OutStructsAreWrittenAsFarAsTheyReach) {
  const auto model = open_model("s2pro_tiny", false);
  remora_model_info info;
  std::memset(&info, 0xAB, sizeof info);
  info.struct_size = offsetof(remora_model_info, vocab_size);
  EXPECT_OK(remora_model_describe(model.get(), &info));
  EXPECT_EQ(info.n_codebooks, 6);
  EXPECT_EQ(static_cast<uint32_t>(info.vocab_size), 0xABABABABU) << "beyond the caller's struct";
}

TEST(Structs, AForgottenSizeIsAnAbiError) {
  const auto model = open_model("s2pro_tiny", false);
  remora_model_info info{};
  EXPECT_EQ(remora_model_describe(model.get(), &info), REMORA_E_ABI);
  EXPECT_EQ(remora_prompt_init(nullptr, sizeof(remora_prompt)), REMORA_E_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace remora::capi_test
