// Helpers for tests of the C ABI: owned handles and readable failures.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "remora/remora.h"

namespace remora::capi_test {

struct Destroy {
  void operator()(remora_source* p) const { remora_source_destroy(p); }
  void operator()(remora_model* p) const { remora_model_destroy(p); }
  void operator()(remora_voice* p) const { remora_voice_destroy(p); }
  void operator()(remora_session* p) const { remora_session_destroy(p); }
  void operator()(remora_codec_stream* p) const { remora_codec_stream_destroy(p); }
};
template <typename T>
using Owned = std::unique_ptr<T, Destroy>;

#define EXPECT_OK(call) EXPECT_EQ((call), REMORA_OK) << remora_last_error()
#define ASSERT_OK(call) ASSERT_EQ((call), REMORA_OK) << remora_last_error()

std::string data(const std::string& relative);

// The checkpoint of tests/data/lm/<name>, with the test codec (10 codebooks) when asked for.
Owned<remora_model> open_model(const std::string& name, bool with_codec);
// The same with a codec of the same sizes that differs from the test codec in one number of a code
// table.
Owned<remora_model> open_model_with_other_codec(const std::string& name);
// The folder of a made-up checkpoint of the build: "s2-pro" or "s1-mini".
std::string tiny(const std::string& family);
// A made-up checkpoint whose codec belongs to it: "s2-pro" or "s1-mini".
Owned<remora_model> open_tiny(const std::string& family);
Owned<remora_session> open_session(const remora_model* model,
                                   const remora_session_params* params = nullptr);

// Borrows the text: a literal, or a string that outlives the call.
remora_prompt text_prompt(std::string_view text);
// Greedy, `max_frames` long, without the bound tied to the text.
remora_sampling greedy(int32_t max_frames);

// A copy of the checkpoint tests/data/lm/<name> that may be changed.
class CheckpointCopy {
 public:
  explicit CheckpointCopy(const std::string& name);
  ~CheckpointCopy();
  CheckpointCopy(const CheckpointCopy&) = delete;
  CheckpointCopy& operator=(const CheckpointCopy&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::string read(const std::string& file) const;
  void write(const std::string& file, std::string_view bytes) const;

 private:
  std::filesystem::path path_;
};

remora_stats stats_of(const remora_session* session);

// One generate call, heard to its end.
struct Spoken {
  std::vector<float> pcm;
  int calls = 0;
  int lasts = 0;  // pieces marked as the last
};
Spoken speak(remora_session* session, const remora_prompt& prompt);

// Steps until the end; codes frame by frame.
std::vector<std::vector<int32_t>> run_frames(remora_session* session, int32_t n_codebooks);

}  // namespace remora::capi_test
