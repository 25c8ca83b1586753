// Everything a program does with the library leaves the process as it was.
#include "support/host_state.h"

#include <ATen/Context.h>

#include "capi_test.h"

namespace remora::capi_test {
namespace {

int32_t REMORA_CALL keep_going(void*, const float*, size_t, int32_t) { return 0; }

void speak(remora_model* model, remora_kv_mode kv, remora_sdpa_policy sdpa) {
  remora_session_params params;
  ASSERT_OK(remora_session_params_init(&params, sizeof params));
  params.capacity = 256;
  params.kv_mode = kv;
  params.sdpa = sdpa;
  const auto session = open_session(model, &params);
  remora_sampling sampling = greedy(4);
  sampling.temperature = 0.7F;  // random draws, too
  ASSERT_OK(remora_session_set_sampling(session.get(), &sampling));
  const remora_prompt prompt = text_prompt("Leave it as you found it.");
  ASSERT_OK(remora_session_generate(session.get(), &prompt, keep_going, nullptr));
}

TEST(HostStateThroughTheCApi, IsTheSameAfterLoadRunAndDestroy) {
  at::globalContext().setSDPUseFlash(false);  // as a host might have it
  const auto before = test::HostState::now();
  {
    const auto model = open_tiny("s2-pro");
    test::expect_same_host(before, "load");
    for (const remora_kv_mode kv : {REMORA_KV_ACTIVE_PREFIX, REMORA_KV_FULL, REMORA_KV_GRAPH}) {
      for (const remora_sdpa_policy sdpa :
           {REMORA_SDPA_AUTO, REMORA_SDPA_MATH, REMORA_SDPA_FLASH}) {
        speak(model.get(), kv, sdpa);
        test::expect_same_host(before, "speech");
      }
    }
    std::vector<float> sound(44100, 0.1F);
    size_t needed = 0;
    std::vector<int32_t> codes(4096);
    ASSERT_OK(remora_codec_encode(model.get(), sound.data(), sound.size(), 1, 44100, codes.data(),
                                  codes.size(), &needed));
    test::expect_same_host(before, "encode");
  }
  test::expect_same_host(before, "destroy");
  at::globalContext().setSDPUseFlash(true);
}

}  // namespace
}  // namespace remora::capi_test
