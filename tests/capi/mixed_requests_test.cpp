// Two hundred requests of every kind in one session: none leaves a trace in the next one's numbers,
// and none leaves memory behind.
#include <algorithm>
#include <fstream>
#include <string>

#include "capi_test.h"
#include "support/sanitized.h"

namespace remora::capi_test {
namespace {

constexpr size_t kRequests = 200;
constexpr size_t kSettled = 40;  // requests after which every kind has been seen a few times

struct Wanted {
  std::string text;
  size_t voices = 0;
  uint32_t flags = 0;
  float temperature = 0;
  uint64_t seed = 0;
  int32_t frames = 0;
  bool whole = false;  // generate, else step and read
};

// The n-th request. The periods have no common divisor, so 200 of them meet in many ways.
Wanted request(size_t n) {
  static const std::string kTexts[] = {
      "Hello.",
      "[whisper] Come in, and close the door.",
      "Two sentences. The second one is a little longer than the first.",
      "<|speaker:0|>Who is there?<|speaker:1|>It is me.",
      "A long text that is cut into pieces. It has several sentences, each of them its own. They "
      "are spoken one after the other, and what was said before is context for what follows. In "
      "the end the session has a long cache.",
      "Ça va? Größe, 言葉, слова.",
      "1, 2, 3.",
  };
  Wanted wanted;
  wanted.text = kTexts[n % 7];
  wanted.voices = n % 3;
  wanted.flags = n % 5 == 4 ? REMORA_PROMPT_CLEAN_TEXT : 0;
  wanted.temperature = n % 4 == 0 ? 0.0F : 0.8F;
  wanted.seed = n % 11;
  wanted.frames = static_cast<int32_t>(3 + n % 13);
  wanted.whole = n % 2 == 0;
  return wanted;
}

class MixedRequests : public testing::Test {
 protected:
  MixedRequests() {
    for (size_t i = 0; i < 2; ++i) {
      std::vector<int32_t> codes(static_cast<size_t>(info().n_codebooks) * (20 + 9 * i));
      for (size_t j = 0; j < codes.size(); ++j) {
        codes[j] = static_cast<int32_t>((j * (7 + i)) % 32);
      }
      remora_voice* voice = nullptr;
      EXPECT_OK(remora_voice_from_codes(model_.get(), codes.data(), 20 + 9 * i, "Some words.", 11,
                                        &voice));
      voices_.emplace_back(voice);
    }
  }

  remora_model_info info() const {
    remora_model_info info{};
    info.struct_size = sizeof info;
    EXPECT_OK(remora_model_describe(model_.get(), &info));
    return info;
  }

  static int32_t REMORA_CALL keep(void* user, const float* pcm, size_t n, int32_t /*last*/) {
    auto& heard = *static_cast<std::vector<float>*>(user);
    heard.insert(heard.end(), pcm, pcm + n);
    return 0;
  }

  static void read_ready(remora_session* session, std::vector<float>& heard) {
    std::vector<float> block(5000);
    size_t n = 1;
    while (n > 0) {
      ASSERT_GE(remora_session_read_pcm(session, block.data(), block.size(), &n), 0)
          << remora_last_error();
      heard.insert(heard.end(), block.begin(), block.begin() + static_cast<ptrdiff_t>(n));
    }
  }

  std::vector<float> answer(remora_session* session, const Wanted& wanted) const {
    remora_sampling sampling;
    EXPECT_OK(remora_sampling_init(&sampling, sizeof sampling));
    sampling.temperature = wanted.temperature;
    sampling.seed = wanted.seed;
    sampling.max_frames = wanted.frames;
    EXPECT_OK(remora_session_set_sampling(session, &sampling));
    remora_prompt prompt = text_prompt(wanted.text);
    const remora_voice* voices[] = {voices_[0].get(), voices_[1].get()};
    prompt.voices = voices;
    prompt.n_voices = wanted.voices;
    prompt.flags = wanted.flags;
    prompt.split_bytes = 60;
    std::vector<float> heard;
    if (wanted.whole) {
      EXPECT_OK(remora_session_generate(session, &prompt, keep, &heard));
      return heard;
    }
    EXPECT_OK(remora_session_prefill(session, &prompt));
    while (remora_session_step(session, nullptr) == REMORA_OK) read_ready(session, heard);
    read_ready(session, heard);
    return heard;
  }

  const Owned<remora_model> model_ = open_tiny("s2-pro");
  std::vector<Owned<remora_voice>> voices_;
};

// Resident memory of this process in kilobytes, without pages of files, which the system takes and
// brings back as it likes, and without what the allocator keeps for later, which depends on the
// order of sizes that were asked for.
double resident() {
  EXPECT_OK(remora_trim_memory());
  std::ifstream in("/proc/self/status");
  for (std::string word; in >> word;) {
    double kilobytes = 0;
    if (word == "RssAnon:" && in >> kilobytes) return kilobytes;
  }
  ADD_FAILURE() << "the system does not tell";
  return 0;
}

TEST_F(MixedRequests, TwoHundredRequestsAreEachAsInAFreshSession) {
  std::vector<std::vector<float>> expected;
  for (size_t n = 0; n < kRequests; ++n) {
    expected.push_back(answer(open_session(model_.get()).get(), request(n)));
    ASSERT_GT(expected.back().size(), 0U) << "request " << n;
  }
  const auto session = open_session(model_.get());
  double settled = 0, late = 0;  // means, as single ones go up and down with the allocator
  for (size_t n = 0; n < kRequests; ++n) {
    ASSERT_EQ(answer(session.get(), request(n)), expected[n]) << "request " << n;
    if (n >= kSettled && n < 2 * kSettled) settled += resident() / kSettled;
    if (n >= kRequests - kSettled) late += resident() / kSettled;
  }
  if (!test::kSanitized) EXPECT_LT(late, settled * 1.01) << "from " << settled << " kB";
}

}  // namespace
}  // namespace remora::capi_test
