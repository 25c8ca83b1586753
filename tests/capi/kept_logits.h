// Sessions that keep logits, for the tests that look at them.
#pragma once

#include <algorithm>
#include <vector>

#include "capi_test.h"

namespace remora::capi_test {

inline constexpr int32_t kCodebooks = 6;  // of s2pro_tiny

// Greedy, eight frames, keeping logits.
inline Owned<remora_session> keeping_session(const remora_model* model,
                                             remora_kv_mode mode = REMORA_KV_ACTIVE_PREFIX,
                                             remora_sdpa_policy sdpa = REMORA_SDPA_AUTO) {
  remora_session_params params;
  EXPECT_OK(remora_session_params_init(&params, sizeof params));
  params.flags = REMORA_SESSION_KEEP_LOGITS;
  params.capacity = 64;
  params.kv_mode = mode;
  params.sdpa = sdpa;
  auto session = open_session(model, &params);
  const remora_sampling sampling = greedy(8);
  EXPECT_OK(remora_session_set_sampling(session.get(), &sampling));
  return session;
}

inline std::vector<float> logits(const remora_session* session, int32_t codebook) {
  size_t needed = 0;
  EXPECT_OK(remora_session_logits(session, codebook, nullptr, 0, &needed));
  std::vector<float> values(needed);
  EXPECT_OK(remora_session_logits(session, codebook, values.data(), needed, &needed));
  return values;
}

inline remora_model_info describe(const remora_model* model) {
  remora_model_info info{};
  info.struct_size = sizeof info;
  EXPECT_OK(remora_model_describe(model, &info));
  return info;
}

inline size_t argmax(const std::vector<float>& values) {
  return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

inline std::vector<int32_t> step(remora_session* session) {
  std::vector<int32_t> codes(kCodebooks, -1);
  remora_frame frame{};
  frame.struct_size = sizeof frame;
  frame.codes = codes.data();
  frame.codes_capacity = codes.size();
  EXPECT_OK(remora_session_step(session, &frame));
  return codes;
}

}  // namespace remora::capi_test
