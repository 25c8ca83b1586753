#include "capi_test.h"

namespace remora::capi_test {

std::string data(const std::string& relative) {
  return std::string(REMORA_TEST_DATA) + "/" + relative;
}

Owned<remora_model> open_model(const std::string& name, bool with_codec) {
  remora_source* source = nullptr;
  EXPECT_OK(remora_source_create(&source));
  const Owned<remora_source> owned(source);
  EXPECT_OK(remora_source_add_dir(source, data("lm/" + name).c_str()));
  if (with_codec) {
    EXPECT_OK(remora_source_add_codec_dir(source, data("codec").c_str()));
  }
  remora_model* model = nullptr;
  EXPECT_OK(remora_model_create(source, nullptr, &model));
  return Owned<remora_model>(model);
}

Owned<remora_model> open_tiny(const std::string& family) {
  remora_model* model = nullptr;
  EXPECT_OK(
      remora_model_open((std::string(REMORA_TINY_DIR) + "/" + family).c_str(), nullptr, &model));
  return Owned<remora_model>(model);
}

Owned<remora_session> open_session(const remora_model* model, const remora_session_params* params) {
  remora_session* session = nullptr;
  EXPECT_OK(remora_session_create(model, params, &session));
  return Owned<remora_session>(session);
}

remora_prompt text_prompt(std::string_view text) {
  remora_prompt prompt;
  remora_prompt_init(&prompt, sizeof prompt);
  prompt.text = text.data();
  prompt.text_len = text.size();
  return prompt;
}

remora_sampling greedy(int32_t max_frames) {
  remora_sampling sampling;
  remora_sampling_init(&sampling, sizeof sampling);
  sampling.temperature = 0;
  sampling.repetition_penalty = 1;
  sampling.max_frames = max_frames;
  sampling.max_frames_per_byte = 0;
  return sampling;
}

std::vector<std::vector<int32_t>> run_frames(remora_session* session, int32_t n_codebooks) {
  std::vector<std::vector<int32_t>> frames;
  while (true) {
    std::vector<int32_t> codes(static_cast<size_t>(n_codebooks), -1);
    remora_frame frame{};
    frame.struct_size = sizeof frame;
    frame.codes = codes.data();
    frame.codes_capacity = codes.size();
    const remora_status status = remora_session_step(session, &frame);
    if (status == REMORA_END) return frames;
    EXPECT_EQ(status, REMORA_OK) << remora_last_error();
    if (status != REMORA_OK) return frames;
    frames.push_back(codes);
  }
}

}  // namespace remora::capi_test
