#include "capi_test.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "live_objects.h"

namespace remora::capi_test {
namespace {

Owned<remora_model> open_with_codec_of(const std::string& name, const std::string& codec_dir) {
  remora_source* source = nullptr;
  EXPECT_OK(remora_source_create(&source));
  const Owned<remora_source> owned(source);
  EXPECT_OK(remora_source_add_dir(source, data("lm/" + name).c_str()));
  if (!codec_dir.empty()) {
    EXPECT_OK(remora_source_add_codec_dir(source, codec_dir.c_str()));
  }
  remora_model* model = nullptr;
  EXPECT_OK(remora_model_create(source, nullptr, &model));
  return Owned<remora_model>(model);
}

// Changes the sign of the first number of a float32 tensor of a .safetensors file.
void negate_first_number(std::string& file, const std::string& tensor) {
  constexpr size_t kLength = 8;  // the header's size, before it
  const size_t entry = file.find('"' + tensor + '"');
  ASSERT_NE(entry, std::string::npos) << tensor;
  const std::string key = "\"data_offsets\":[";
  const size_t begin = file.find(key, entry) + key.size();
  uint64_t header = 0;
  std::copy_n(file.data(), sizeof header, reinterpret_cast<char*>(&header));
  const size_t at = kLength + header + std::strtoull(file.c_str() + begin, nullptr, 10);
  ASSERT_LT(at + 3, file.size());
  file[at + 3] = static_cast<char>(file[at + 3] ^ 0x80);
}

}  // namespace

[[maybe_unused]] const bool kWatched = watch_live_objects();

std::string data(const std::string& relative) {
  return std::string(REMORA_TEST_DATA) + "/" + relative;
}

std::string tiny(const std::string& family) { return std::string(REMORA_TINY_DIR) + "/" + family; }

Owned<remora_model> open_model(const std::string& name, bool with_codec) {
  return open_with_codec_of(name, with_codec ? data("codec") : "");
}

Owned<remora_model> open_model_with_other_codec(const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path dir = testing::TempDir() + "remora_other_codec_" + std::to_string(getpid());
  fs::create_directories(dir);
  fs::copy_file(data("codec/config.json"), dir / "codec.json",
                fs::copy_options::overwrite_existing);
  std::ifstream in(data("codec/codec.safetensors"), std::ios::binary);
  std::string file{std::istreambuf_iterator<char>(in), {}};
  negate_first_number(file, "quantizer.semantic_quantizer.quantizers.0.codebook.weight");
  std::ofstream(dir / "codec.safetensors", std::ios::binary) << file;
  auto model = open_with_codec_of(name, dir.string());
  fs::remove_all(dir);  // what is mapped stays
  return model;
}

Owned<remora_model> open_tiny(const std::string& family) {
  remora_model* model = nullptr;
  EXPECT_OK(remora_model_open(tiny(family).c_str(), nullptr, &model));
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

CheckpointCopy::CheckpointCopy(const std::string& name)
    : path_(testing::TempDir() + "remora_copy_" + name + "_" + std::to_string(getpid())) {
  std::filesystem::remove_all(path_);
  std::filesystem::copy(data("lm/" + name), path_);
}

CheckpointCopy::~CheckpointCopy() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string CheckpointCopy::read(const std::string& file) const {
  std::ifstream in(path_ / file, std::ios::binary);
  EXPECT_TRUE(in) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

void CheckpointCopy::write(const std::string& file, std::string_view bytes) const {
  std::ofstream out(path_ / file, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  EXPECT_TRUE(out.flush()) << file;
}

remora_stats stats_of(const remora_session* session) {
  remora_stats stats{};
  stats.struct_size = sizeof stats;
  EXPECT_OK(remora_session_stats(session, &stats));
  return stats;
}

namespace {

int32_t REMORA_CALL hear(void* user, const float* pcm, size_t n, int32_t last) {
  auto& heard = *static_cast<Spoken*>(user);
  EXPECT_EQ(heard.lasts, 0) << "nothing comes after the last piece";
  heard.pcm.insert(heard.pcm.end(), pcm, pcm + n);
  heard.lasts += last != 0;
  ++heard.calls;
  return 0;
}

}  // namespace

Spoken speak(remora_session* session, const remora_prompt& prompt) {
  Spoken heard;
  EXPECT_OK(remora_session_generate(session, &prompt, hear, &heard));
  return heard;
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
