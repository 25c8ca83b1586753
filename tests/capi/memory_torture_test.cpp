// Every request for memory may fail: an error each time, nothing left behind, and the next good
// call works as if nothing had been.
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <utility>

#include "capi_test.h"
#include "io/temp_dir.h"
#include "live_objects.h"
#include "support/failing_system.h"

namespace remora::capi_test {
namespace {

using test::blocks_in_use;
using test::Failing;
using test::FailingMemory;

constexpr int32_t kCodebooks = 6;

// What the calls under failing memory came to. Holds no memory, so that blocks can be counted.
struct Attempt {
  remora_status status = REMORA_OK;
  bool reached = false;  // whether it came to the request that fails
};

// Runs one call with its n-th request for memory failing.
template <typename Call>
Attempt under(int64_t n, Failing mode, Call&& call) {
  Attempt made;
  {
    const FailingMemory failing(n, mode);
    made.status = call();
    made.reached = failing.reached();
  }
  if (made.status != REMORA_OK) {
    EXPECT_EQ(made.status, REMORA_E_OUT_OF_MEMORY)
        << "request " << n << ": " << remora_last_error();
    EXPECT_NE(std::strstr(remora_last_error(), "memory"), nullptr)
        << "request " << n << ": " << remora_last_error();
  }
  return made;
}

// The next request to fail. Loops ask at the same places again and again, so behind the first few
// it is enough to go on by a share of the way: 6 % keeps a case within seconds.
int64_t next_request(int64_t n) { return n + std::max<int64_t>(1, n / 16); }

// `attempt(n, mode)` makes its objects and leaves none, calls under(n, mode, ...) and looks whether
// the next good call works. Goes on until one attempt needs fewer than n requests.
void fail_each_request(const std::function<Attempt(int64_t, Failing)>& attempt) {
  // What LibTorch and the system keep from a first use is there before blocks are counted.
  EXPECT_OK(attempt(int64_t{1} << 40, Failing::kOne).status);
  for (const Failing mode : {Failing::kOne, Failing::kAllOn}) {
    int failures = 0;
    bool reached = true;
    for (int64_t n = 1; reached && !testing::Test::HasFailure(); n = next_request(n)) {
      const std::string objects = live_objects();
      const int64_t blocks = blocks_in_use();
      const Attempt made = attempt(n, mode);
      reached = made.reached;
      // Not each one is an error: std::stable_sort does with less.
      failures += made.status != REMORA_OK;
      EXPECT_EQ(live_objects(), objects) << "request " << n;
      EXPECT_EQ(blocks_in_use(), blocks) << "request " << n << " left blocks behind";
    }
    EXPECT_GT(failures, 10) << "next to nothing failed";
  }
}

class MemoryTorture : public testing::Test {
 protected:
  static void SetUpTestSuite() {
#ifndef NDEBUG
    // Such builds keep the memory of the last 4096 handles that were destroyed. Full from the
    // start, they let go of one for each that comes, and blocks can be counted.
    for (int i = 0; i < 5000; ++i) {
      remora_source* source = nullptr;
      ASSERT_OK(remora_source_create(&source));
      remora_source_destroy(source);
    }
#endif
    model_ = open_model("s2pro_tiny", true).release();
  }
  static void TearDownTestSuite() {
    remora_model_destroy(model_);
    model_ = nullptr;
  }

  static Owned<remora_session> new_session() {
    auto session = open_session(model_);
    const remora_sampling sampling = greedy(5);
    EXPECT_OK(remora_session_set_sampling(session.get(), &sampling));
    return session;
  }

  using Codes = std::array<int32_t, 5 * kCodebooks>;

  static remora_status frames(remora_session* session, Codes& codes) {
    remora_frame frame{};
    frame.struct_size = sizeof frame;
    frame.codes = codes.data();
    frame.codes_capacity = kCodebooks;
    remora_status status = REMORA_OK;
    while ((status = remora_session_step(session, &frame)) == REMORA_OK) {
      frame.codes += kCodebooks;
      if (frame.codes == codes.data() + codes.size()) frame.codes = nullptr;
    }
    return status == REMORA_END ? REMORA_OK : status;
  }
  static remora_status sound(remora_session* session) {
    std::array<float, 4096> pcm{};
    size_t n = 0;
    remora_status status = REMORA_OK;
    while ((status = remora_session_read_pcm(session, pcm.data(), pcm.size(), &n)) == REMORA_OK) {
    }
    return status == REMORA_END ? REMORA_OK : status;
  }
  // Prompt, frames and sound; stops at the first error.
  static remora_status speak(remora_session* session, Codes& codes) {
    const remora_prompt prompt = text_prompt("Hello world.");
    remora_status status = remora_session_prefill(session, &prompt);
    if (status == REMORA_OK) status = frames(session, codes);
    return status == REMORA_OK ? sound(session) : status;
  }
  static Codes good_codes() {
    const auto session = new_session();
    Codes codes{};
    EXPECT_OK(speak(session.get(), codes));
    return codes;
  }
  // After an error a session is untouched or failed until reset, never something in between.
  static void expect_recovery(remora_session* session, const Codes& expected) {
    const remora_prompt prompt = text_prompt("Hello world.");
    const remora_status status = remora_session_prefill(session, &prompt);
    EXPECT_TRUE(status == REMORA_OK || status == REMORA_E_INVALID_STATE) << remora_last_error();
    EXPECT_OK(remora_session_reset(session));
    Codes codes{};
    EXPECT_OK(speak(session, codes));
    EXPECT_EQ(codes, expected);
  }

  static remora_model* model_;
};
remora_model* MemoryTorture::model_ = nullptr;

TEST_F(MemoryTorture, TORTURE_a_load_without_memory) {
  const std::string folder = data("lm/s2pro_tiny"), codec = data("codec");
  fail_each_request([&](int64_t n, Failing mode) {
    remora_model* model = nullptr;
    remora_source* source = nullptr;
    const Attempt made = under(n, mode, [&] {
      remora_status status = remora_source_create(&source);
      if (status == REMORA_OK) status = remora_source_add_dir(source, folder.c_str());
      if (status == REMORA_OK) status = remora_source_add_codec_dir(source, codec.c_str());
      if (status == REMORA_OK) status = remora_model_create(source, nullptr, &model);
      return status;
    });
    EXPECT_EQ(model != nullptr, made.status == REMORA_OK);
    remora_model_destroy(model);
    remora_source_destroy(source);
    return made;
  });
}

TEST_F(MemoryTorture, TORTURE_a_session_made_without_memory) {
  fail_each_request([&](int64_t n, Failing mode) {
    remora_session* session = nullptr;
    const Attempt made =
        under(n, mode, [&] { return remora_session_create(model_, nullptr, &session); });
    EXPECT_EQ(session != nullptr, made.status == REMORA_OK);
    remora_session_destroy(session);
    return made;
  });
}

TEST_F(MemoryTorture, TORTURE_a_session_whose_threads_are_refused) {
  const int before = at::get_num_threads();
  at::set_num_threads(4);
  // LibTorch's own threads, whose absence would end the process, are there before.
  open_session(model_);
  for (int nth = 1; nth <= 4; ++nth) {
    remora_session* session = nullptr;
    {
      const test::FailingThreads failing(nth);
      const remora_status status = remora_session_create(model_, nullptr, &session);
      EXPECT_EQ(status, nth < 4 ? REMORA_E_OUT_OF_MEMORY : REMORA_OK) << remora_last_error();
    }
    if (nth < 4) {
      EXPECT_NE(std::strstr(remora_last_error(), "threads"), nullptr) << remora_last_error();
      EXPECT_EQ(session, nullptr);
    }
    remora_session_destroy(session);
  }
  at::set_num_threads(before);
}

TEST_F(MemoryTorture, TORTURE_prompt_frames_and_sound_without_memory) {
  const Codes expected = good_codes();
  fail_each_request([&](int64_t n, Failing mode) {
    const auto session = new_session();
    Codes codes{};
    const Attempt made = under(n, mode, [&] { return speak(session.get(), codes); });
    if (made.status == REMORA_OK) {
      EXPECT_EQ(codes, expected);
    } else {
      expect_recovery(session.get(), expected);
    }
    return made;
  });
}

TEST_F(MemoryTorture, TORTURE_reset_rewind_and_clone_without_memory) {
  const Codes expected = good_codes();
  fail_each_request([&](int64_t n, Failing mode) {
    const auto session = new_session();
    Codes codes{};
    EXPECT_OK(speak(session.get(), codes));
    remora_session* twin = nullptr;
    const Attempt made = under(n, mode, [&] {
      remora_status status = remora_session_clone(session.get(), &twin);
      if (status == REMORA_OK) status = remora_session_rewind(session.get(), 20);
      return status == REMORA_OK ? remora_session_reset(session.get()) : status;
    });
    const Owned<remora_session> owned(twin);
    expect_recovery(session.get(), expected);
    if (twin != nullptr) expect_recovery(twin, expected);
    return made;
  });
}

TEST_F(MemoryTorture, TORTURE_state_saved_and_loaded_without_memory) {
  const Codes expected = good_codes();
  const auto saver = new_session();
  const remora_prompt prompt = text_prompt("Hello world.");
  ASSERT_OK(remora_session_prefill(saver.get(), &prompt));
  size_t size = 0;
  ASSERT_OK(remora_session_save(saver.get(), nullptr, 0, &size));
  std::vector<char> saved(size), again(size);
  ASSERT_OK(remora_session_save(saver.get(), saved.data(), size, &size));
  fail_each_request([&](int64_t n, Failing mode) {
    const auto session = new_session();
    const Attempt made = under(n, mode, [&] {
      const remora_status status =
          remora_session_save(saver.get(), again.data(), again.size(), &size);
      return status == REMORA_OK ? remora_session_load(session.get(), saved.data(), saved.size())
                                 : status;
    });
    if (made.status == REMORA_OK) {
      EXPECT_EQ(again, saved);
      Codes codes{};
      EXPECT_OK(frames(session.get(), codes));
      EXPECT_EQ(codes, expected);
    } else {
      expect_recovery(session.get(), expected);
    }
    return made;
  });
}

TEST_F(MemoryTorture, TORTURE_sound_and_voices_without_memory) {
  const auto model = open_tiny("s2-pro");
  std::vector<float> tone(13000);
  for (size_t i = 0; i < tone.size(); ++i) tone[i] = std::sin(0.05F * static_cast<float>(i)) / 2;
  const test::TempDir dir;
  const std::string in = dir.path("in.flac"), out = dir.path("out.flac");
  ASSERT_OK(
      remora_audio_write(in.c_str(), tone.data(), tone.size(), 1, 32000, REMORA_AUDIO_FLAC16));
  std::vector<int32_t> codes(10 * 10);
  std::vector<float> pcm(10 * 2048);
  size_t needed = 0;
  fail_each_request([&](int64_t n, Failing mode) {
    remora_voice* voice = nullptr;
    const Attempt made = under(n, mode, [&] {
      remora_status status = remora_voice_open(model.get(), in.c_str(), "words", 5, &voice);
      if (status == REMORA_OK) {
        status = remora_codec_encode(model.get(), tone.data(), tone.size(), 1, 32000, codes.data(),
                                     codes.size(), &needed);
      }
      if (status == REMORA_OK) {
        status = remora_codec_decode(model.get(), codes.data(), 3, pcm.data(), pcm.size(), &needed);
      }
      return status == REMORA_OK ? remora_audio_write(out.c_str(), pcm.data(), needed, 1, 44100,
                                                      REMORA_AUDIO_FLAC16)
                                 : status;
    });
    remora_voice_destroy(voice);
    size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(dir.path())) {
      files += entry.is_regular_file();
    }
    EXPECT_EQ(files, made.status == REMORA_OK ? 2U : 1U) << "request " << n << " left a file";
    std::filesystem::remove(out);
    return made;
  });
}

}  // namespace
}  // namespace remora::capi_test
