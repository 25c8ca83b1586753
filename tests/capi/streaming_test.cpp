// Sound while it is made: whatever the pieces, the same samples, none lost and none late.
#include <algorithm>
#include <cmath>

#include "capi_test.h"

namespace remora::capi_test {
namespace {

constexpr int32_t kCodebooks = 6;
constexpr size_t kFrameSamples = 2048;

struct Chunks {
  int32_t first;
  int32_t next;
};

class StreamingTest : public testing::TestWithParam<Chunks> {
 protected:
  static void SetUpTestSuite() {
    model_ = open_model("s2pro_tiny", true).release();
    whole_ = whole_sound(kMostFrames);
  }
  static void TearDownTestSuite() {
    remora_model_destroy(model_);
    model_ = nullptr;
  }
  // Greedy, so that a shorter run makes the first frames of a longer one.
  static Owned<remora_session> session_for(int32_t frames, const Chunks& chunks) {
    remora_session_params params;
    EXPECT_OK(remora_session_params_init(&params, sizeof params));
    params.codec_chunk_first = chunks.first;
    params.codec_chunk_next = chunks.next;
    auto session = open_session(model_, &params);
    const remora_sampling sampling = greedy(frames);
    EXPECT_OK(remora_session_set_sampling(session.get(), &sampling));
    return session;
  }
  // All frames first, then one decode.
  static std::vector<float> whole_sound(int32_t frames) {
    const auto session = session_for(frames, {4, 12});
    const remora_prompt prompt = text_prompt(kText);
    EXPECT_OK(remora_session_prefill(session.get(), &prompt));
    const auto by_frame = run_frames(session.get(), kCodebooks);
    EXPECT_EQ(by_frame.size(), static_cast<size_t>(frames));
    std::vector<int32_t> matrix(by_frame.size() * kCodebooks);
    for (size_t t = 0; t < by_frame.size(); ++t) {
      for (size_t row = 0; row < kCodebooks; ++row) {
        matrix[row * by_frame.size() + t] = by_frame[t][row];
      }
    }
    std::vector<float> pcm(by_frame.size() * kFrameSamples);
    size_t needed = 0;
    EXPECT_OK(remora_codec_decode(model_, matrix.data(), by_frame.size(), pcm.data(), pcm.size(),
                                  &needed));
    return pcm;
  }

  static constexpr int32_t kMostFrames = 65;
  static constexpr const char* kText = "你好，世界！今天天气很好。";
  static remora_model* model_;
  static std::vector<float> whole_;
};
remora_model* StreamingTest::model_ = nullptr;
std::vector<float> StreamingTest::whole_;

struct Heard {
  std::vector<float> pcm;
  std::vector<size_t> pieces;
  int lasts = 0;
  bool last_was_last = false;
};

int32_t REMORA_CALL hear(void* user, const float* pcm, size_t n, int32_t last) {
  auto& heard = *static_cast<Heard*>(user);
  heard.pcm.insert(heard.pcm.end(), pcm, pcm + n);
  if (n > 0) heard.pieces.push_back(n);
  heard.lasts += last != 0;
  heard.last_was_last = last != 0;
  return 0;
}

TEST_P(StreamingTest, RB_12_EveryLengthComesWholeAndEqual) {
  for (const int32_t frames : {1, 2, 3, 7, 8, 9, 63, 64, 65}) {
    const auto session = session_for(frames, GetParam());
    const remora_prompt prompt = text_prompt(kText);
    Heard heard;
    ASSERT_OK(remora_session_generate(session.get(), &prompt, hear, &heard));
    ASSERT_EQ(heard.pcm.size(), static_cast<size_t>(frames) * kFrameSamples);
    EXPECT_EQ(heard.lasts, 1) << frames;
    EXPECT_TRUE(heard.last_was_last) << frames;
    const auto longest = static_cast<size_t>(GetParam().next) * kFrameSamples;
    EXPECT_LE(*std::max_element(heard.pieces.begin(), heard.pieces.end()), longest) << frames;
    float worst = 0;
    for (size_t i = 0; i < heard.pcm.size(); ++i) {
      worst = std::max(worst, std::abs(heard.pcm[i] - whole_[i]));
    }
    EXPECT_LE(worst, 2e-5F) << frames;  // float32 sums in another order; a seam would show at 0.01
  }
}

TEST_P(StreamingTest, RB_36_TheFirstSoundComesWithTheFirstPiece) {
  const auto session = session_for(kMostFrames, GetParam());
  const remora_prompt prompt = text_prompt(kText);
  ASSERT_OK(remora_session_prefill(session.get(), &prompt));
  std::vector<float> block(kFrameSamples * kMostFrames);
  for (int32_t made = 1; made <= GetParam().first; ++made) {
    ASSERT_OK(remora_session_step(session.get(), nullptr));
    size_t n = 0;
    ASSERT_OK(remora_session_read_pcm(session.get(), block.data(), block.size(), &n));
    const size_t expected = made < GetParam().first ? 0 : static_cast<size_t>(made) * kFrameSamples;
    EXPECT_EQ(n, expected) << "behind " << made << " frames";
  }
}

INSTANTIATE_TEST_SUITE_P(Chunks, StreamingTest,
                         testing::Values(Chunks{1, 1}, Chunks{1, 8}, Chunks{3, 10}, Chunks{4, 12},
                                         Chunks{8, 8}, Chunks{8, 64}, Chunks{64, 64}),
                         [](const auto& param) {
                           return std::to_string(param.param.first) + "to" +
                                  std::to_string(param.param.next);
                         });

}  // namespace
}  // namespace remora::capi_test
