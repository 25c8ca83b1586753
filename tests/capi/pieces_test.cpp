// No sample is lost or doubled, whatever the pieces, and the first come early.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "capi_test.h"

namespace remora::capi_test {
namespace {

constexpr size_t kCodebooks = 6;
constexpr size_t kFrameSamples = 2048;
// Other piece lengths are other orders of summation; -94 dB of full scale.
constexpr float kRounding = 2e-5F;

class PiecesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { model_ = open_model("s2pro_tiny", true).release(); }
  static void TearDownTestSuite() {
    remora_model_destroy(model_);
    model_ = nullptr;
  }

  // [codebooks, frames], the same numbers each time.
  static std::vector<int32_t> some_codes(size_t frames) {
    std::vector<int32_t> codes(kCodebooks * frames);
    uint32_t state = 1;
    for (int32_t& code : codes) {
      code = static_cast<int32_t>((state = state * 1664525 + 1013904223) >> 25);
    }
    return codes;
  }
  static std::vector<float> whole(const std::vector<int32_t>& codes, size_t frames) {
    size_t needed = 0;
    EXPECT_OK(remora_codec_decode(model_, codes.data(), frames, nullptr, 0, &needed));
    std::vector<float> pcm(needed);
    EXPECT_OK(remora_codec_decode(model_, codes.data(), frames, pcm.data(), pcm.size(), &needed));
    return pcm;
  }
  static std::vector<float> in_pieces(const std::vector<int32_t>& codes, size_t frames,
                                      size_t piece) {
    remora_codec_stream* raw = nullptr;
    EXPECT_OK(remora_codec_stream_create(model_, &raw));
    const Owned<remora_codec_stream> stream(raw);
    std::vector<float> pcm;
    for (size_t start = 0; start < frames; start += piece) {
      const size_t n = std::min(piece, frames - start);
      std::vector<int32_t> part;
      for (size_t row = 0; row < kCodebooks; ++row) {
        const auto from = codes.begin() + static_cast<long>(row * frames + start);
        part.insert(part.end(), from, from + static_cast<long>(n));
      }
      std::vector<float> block(n * kFrameSamples);
      size_t needed = 0;
      EXPECT_OK(remora_codec_stream_push(stream.get(), part.data(), n, block.data(), block.size(),
                                         &needed));
      EXPECT_EQ(needed, block.size());
      pcm.insert(pcm.end(), block.begin(), block.end());
    }
    return pcm;
  }
  static Owned<remora_session> session_in_chunks(int32_t frames, int32_t first, int32_t next) {
    remora_session_params params;
    EXPECT_OK(remora_session_params_init(&params, sizeof params));
    params.codec_chunk_first = first;
    params.codec_chunk_next = next;
    auto session = open_session(model_, &params);
    const remora_sampling sampling = greedy(frames);
    EXPECT_OK(remora_session_set_sampling(session.get(), &sampling));
    return session;
  }
  static uint64_t frames_in_file(const std::vector<float>& pcm) {
    const std::string path =
        testing::TempDir() + "remora_pieces_" + std::to_string(pcm.size()) + ".wav";
    EXPECT_OK(
        remora_audio_write(path.c_str(), pcm.data(), pcm.size(), 1, 44100, REMORA_AUDIO_WAV_PCM16));
    remora_audio_info info{};
    info.struct_size = sizeof info;
    EXPECT_OK(remora_audio_describe(path.c_str(), &info));
    std::remove(path.c_str());
    return info.frames;
  }
  static remora_model* model_;
};
remora_model* PiecesTest::model_ = nullptr;

float worst_difference(const std::vector<float>& a, const std::vector<float>& b) {
  if (a.size() != b.size()) return INFINITY;
  float worst = 0;
  for (size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst;
}

TEST_F(PiecesTest, RB_06_streaming_and_other_sessions_do_not_change_a_code) {
  const remora_prompt prompts[] = {text_prompt("Hello world."), text_prompt("Fish \u8bed\u97f3."),
                                   text_prompt("A third text.")};
  std::vector<std::vector<std::vector<int32_t>>> alone;
  for (const remora_prompt& prompt : prompts) {
    const auto session = session_in_chunks(20, 4, 12);
    ASSERT_OK(remora_session_prefill(session.get(), &prompt));
    alone.push_back(run_frames(session.get(), kCodebooks));
  }
  // Three side by side, one step of each in turn, their sound taken on the way.
  std::vector<Owned<remora_session>> sessions;
  for (const remora_prompt& prompt : prompts) {
    sessions.push_back(session_in_chunks(20, 4, 12));
    ASSERT_OK(remora_session_prefill(sessions.back().get(), &prompt));
  }
  std::vector<float> block(12 * kFrameSamples);
  for (size_t step = 0; step < 20; ++step) {
    for (size_t i = 0; i < sessions.size(); ++i) {
      std::vector<int32_t> codes(kCodebooks);
      remora_frame frame{};
      frame.struct_size = sizeof frame;
      frame.codes = codes.data();
      frame.codes_capacity = codes.size();
      const remora_status status = remora_session_step(sessions[i].get(), &frame);
      ASSERT_EQ(status, step < alone[i].size() ? REMORA_OK : REMORA_END) << remora_last_error();
      if (status == REMORA_OK) {
        EXPECT_EQ(codes, alone[i][step]) << "session " << i;
      }
      size_t n = 0;
      EXPECT_GE(remora_session_read_pcm(sessions[i].get(), block.data(), block.size(), &n), 0);
    }
  }
}

TEST_F(PiecesTest, RB_12_every_frame_gives_2048_samples) {
  for (const size_t frames : {1, 2, 3, 7, 8, 9, 63, 64, 65}) {
    const std::vector<int32_t> codes = some_codes(frames);
    const std::vector<float> pcm = whole(codes, frames);
    EXPECT_EQ(pcm.size(), frames * kFrameSamples);
    EXPECT_EQ(frames_in_file(pcm), frames * kFrameSamples);
    for (const size_t chunk : {1, 8, 64}) {
      EXPECT_LE(worst_difference(in_pieces(codes, frames, chunk), pcm), kRounding)
          << frames << " frames in pieces of " << chunk;
    }
  }
}

TEST_F(PiecesTest, RB_36_no_piece_length_loses_or_shifts_a_sample) {
  constexpr size_t kFrames = 320;
  const std::vector<int32_t> codes = some_codes(kFrames);
  const std::vector<float> pcm = whole(codes, kFrames);
  EXPECT_GT(*std::max_element(pcm.begin(), pcm.end()), 0.1F) << "a sound to compare with";
  for (const size_t piece : {1, 3, 10, 45, 64, 320}) {
    const std::vector<float> joined = in_pieces(codes, kFrames, piece);
    EXPECT_EQ(joined.size(), kFrames * kFrameSamples) << "pieces of " << piece;
    EXPECT_LE(worst_difference(joined, pcm), kRounding) << "pieces of " << piece;
  }
}

int32_t REMORA_CALL stop_at_once(void*, const float*, size_t, int32_t) { return 1; }

TEST_F(PiecesTest, RB_36_the_first_call_comes_after_the_first_pieces_steps) {
  const remora_prompt prompt = text_prompt("Hello world.");
  for (const int32_t first : {1, 3, 10, 45}) {
    const auto session = session_in_chunks(64, first, 64);
    EXPECT_EQ(remora_session_generate(session.get(), &prompt, stop_at_once, nullptr),
              REMORA_E_CANCELLED);
    EXPECT_EQ(stats_of(session.get()).frames, static_cast<uint64_t>(first));
  }
}

}  // namespace
}  // namespace remora::capi_test
