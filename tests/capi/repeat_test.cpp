// The same request gives the same sound: whatever ran before, in any process, thread and piece
// size.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <thread>

#include "capi_test.h"

namespace remora::capi_test {
namespace {

constexpr int32_t kCodebooks = 4;  // of the tiny checkpoint
constexpr char kAlone[] = "REMORA_TEST_ALONE";

struct Request {
  std::string text;
  double voice_seconds = 0;  // 0: no voice
  uint64_t seed = 42;
};

std::string words(int count) {
  std::string text = "Word";
  for (int i = 1; i < count; ++i) text += (i % 12 == 0 ? ". Word " : " word ") + std::to_string(i);
  return text + ".";
}

class RepeatTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { model_ = open_tiny("s2-pro").release(); }
  static void TearDownTestSuite() {
    remora_model_destroy(model_);
    model_ = nullptr;
  }
  void TearDown() override { voices_.clear(); }  // each test leaves no object behind

  // Syllables of a tone; another reference for each length.
  static const remora_voice* voice(double seconds) {
    if (const auto known = voices_.find(seconds); known != voices_.end()) {
      return known->second.get();
    }
    std::vector<float> pcm(static_cast<size_t>(44100 * seconds));
    for (size_t i = 0; i < pcm.size(); ++i) {
      const double t = static_cast<double>(i) / 44100;
      const double loudness = 0.5 + 0.5 * std::sin(2 * M_PI * 3 * t);
      pcm[i] = static_cast<float>(0.4 * loudness * std::sin(2 * M_PI * (150 + seconds) * t));
    }
    const std::string transcript = words(static_cast<int>(seconds * 3));
    remora_voice* voice = nullptr;
    EXPECT_OK(remora_voice_create(model_, pcm.data(), pcm.size(), 1, 44100, transcript.data(),
                                  transcript.size(), &voice));
    voices_[seconds].reset(voice);
    return voice;
  }
  static void set_seed(remora_session* session, uint64_t seed) {
    remora_sampling sampling;
    ASSERT_OK(remora_sampling_init(&sampling, sizeof sampling));
    sampling.max_frames = 20;
    sampling.seed = seed;
    ASSERT_OK(remora_session_set_sampling(session, &sampling));
  }
  static std::vector<float> run(remora_session* session, const Request& request) {
    set_seed(session, request.seed);
    const bool has_voice = request.voice_seconds > 0;
    const remora_voice* voices[] = {has_voice ? voice(request.voice_seconds) : nullptr};
    remora_prompt prompt = text_prompt(request.text);
    prompt.voices = voices;
    prompt.n_voices = has_voice ? 1 : 0;
    return speak(session, prompt).pcm;
  }

  // True in a process that alone() started: then the request asked for was run and written.
  static bool ran_alone(const std::vector<Request>& requests) {
    const char* task = std::getenv(kAlone);
    if (task == nullptr) return false;
    const std::string path = task;  // <folder>/<index of the request>
    const auto session = open_session(model_);
    const size_t index = std::stoul(path.substr(path.rfind('/') + 1));
    const std::vector<float> pcm = run(session.get(), requests[index]);
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(pcm.data()),
               static_cast<std::streamsize>(pcm.size() * sizeof(float)));
    return true;
  }
  // The samples of request `index` of this test, run by a fresh process that does nothing else.
  static std::vector<float> alone(size_t index) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    const std::filesystem::path folder =
        testing::TempDir() + "remora_alone_" + test->name() + std::to_string(index);
    std::filesystem::create_directories(folder);
    const std::string file = (folder / std::to_string(index)).string();
    const std::string command = std::string(kAlone) + "='" + file + "' '" +
                                std::filesystem::read_symlink("/proc/self/exe").string() +
                                "' --gtest_filter=RepeatTest." + test->name() + " >/dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::ifstream in(file, std::ios::binary | std::ios::ate);
    std::vector<float> pcm(in ? static_cast<size_t>(in.tellg()) / sizeof(float) : 0);
    in.seekg(0);
    in.read(reinterpret_cast<char*>(pcm.data()),
            static_cast<std::streamsize>(pcm.size() * sizeof(float)));
    std::filesystem::remove_all(folder);
    return pcm;
  }
  static remora_model* model_;
  static std::map<double, Owned<remora_voice>> voices_;  // by their seconds
};
remora_model* RepeatTest::model_ = nullptr;
std::map<double, Owned<remora_voice>> RepeatTest::voices_;

TEST_F(RepeatTest, RB_33_a_used_session_equals_a_fresh_process_byte_for_byte) {
  const std::vector<Request> requests = {
      {"Voice A speaks.", 30}, {"Voice B speaks.", 3}, {"Nobody speaks."}, {"Word."}, {words(200)}};
  if (ran_alone(requests)) return;
  std::vector<std::vector<float>> expected;
  for (size_t i = 0; i < requests.size(); ++i) {
    expected.push_back(alone(i));
    EXPECT_GE(expected.back().size(), 2048U) << i;
    for (size_t other = 0; other < i; ++other) EXPECT_NE(expected[other], expected[i]);
  }
  const auto session = open_session(model_);
  enum { kA, kB, kNone, kOneWord, kTwoHundred };
  for (const size_t i : {kA, kA, kB, kA, kNone, kB, kOneWord, kTwoHundred, kOneWord}) {
    EXPECT_EQ(run(session.get(), requests[i]), expected[i]) << requests[i].text.substr(0, 20);
  }
}

TEST_F(RepeatTest, RB_40_a_seed_gives_the_same_sound_everywhere) {
  const std::vector<Request> requests = {{"A short text.", 0, 42}};
  if (ran_alone(requests)) return;
  const auto session = open_session(model_), other = open_session(model_);
  const std::vector<float> reference = run(session.get(), requests[0]);
  EXPECT_EQ(run(session.get(), requests[0]), reference) << "twice";
  EXPECT_EQ(alone(0), reference) << "in a second process";
  run(session.get(), {"Something else.", 3, 7});
  EXPECT_EQ(run(session.get(), requests[0]), reference) << "after another request";
  std::vector<float> one, two;
  std::thread first([&] { one = run(session.get(), requests[0]); });
  std::thread second([&] { two = run(other.get(), requests[0]); });
  first.join();
  second.join();
  EXPECT_EQ(one, reference) << "on two threads at once";
  EXPECT_EQ(two, reference) << "on two threads at once";
}

TEST_F(RepeatTest, RB_40_piece_sizes_and_streaming_do_not_change_what_is_drawn) {
  const remora_prompt prompt = text_prompt("A short text.");
  std::vector<std::vector<std::vector<int32_t>>> codes;
  std::vector<std::vector<float>> sounds;
  for (const int32_t chunk : {1, 50}) {
    remora_session_params params;
    ASSERT_OK(remora_session_params_init(&params, sizeof params));
    params.codec_chunk_first = params.codec_chunk_next = chunk;
    const auto streamed = open_session(model_, &params), whole = open_session(model_, &params);
    set_seed(streamed.get(), 42);
    sounds.push_back(speak(streamed.get(), prompt).pcm);
    set_seed(whole.get(), 42);
    ASSERT_OK(remora_session_prefill(whole.get(), &prompt));
    codes.push_back(run_frames(whole.get(), kCodebooks));  // no sound is asked for
    std::vector<float> pcm(codes.back().size() * 2048 + 1);
    size_t total = 0, n = 0;
    while (remora_session_read_pcm(whole.get(), pcm.data() + total, pcm.size() - total, &n) ==
           REMORA_OK) {
      total += n;
    }
    pcm.resize(total);
    EXPECT_EQ(pcm, sounds.back()) << "streamed and not, in pieces of " << chunk;
  }
  EXPECT_EQ(codes[0], codes[1]);
  ASSERT_EQ(sounds[0].size(), sounds[1].size());
  for (size_t i = 0; i < sounds[0].size(); ++i) {
    // Sums in another order, as docs/codec.md says.
    ASSERT_NEAR(sounds[0][i], sounds[1][i], 2e-5) << i;
  }
}

TEST_F(RepeatTest, RB_40_seeds_of_all_64_bits_differ_and_a_random_one_is_told) {
  const remora_prompt prompt = text_prompt("A short text.");
  const auto session = open_session(model_);
  const auto codes_of = [&](uint64_t seed) {
    set_seed(session.get(), seed);
    EXPECT_OK(remora_session_prefill(session.get(), &prompt));
    return run_frames(session.get(), kCodebooks);
  };
  const std::vector<uint64_t> seeds = {0, 1, 42, 43, 42 + (uint64_t{1} << 32), uint64_t{1} << 63};
  std::vector<std::vector<std::vector<int32_t>>> runs;
  for (const uint64_t seed : seeds) {
    runs.push_back(codes_of(seed));
    EXPECT_EQ(stats_of(session.get()).seed, seed);
    EXPECT_EQ(codes_of(seed), runs.back()) << seed;
    for (size_t i = 0; i + 1 < runs.size(); ++i) EXPECT_NE(runs[i], runs.back()) << seed;
  }
  const auto drawn = codes_of(REMORA_SEED_RANDOM);
  const uint64_t seed = stats_of(session.get()).seed;
  EXPECT_NE(seed, REMORA_SEED_RANDOM);
  EXPECT_EQ(codes_of(seed), drawn);
  codes_of(REMORA_SEED_RANDOM);
  EXPECT_NE(stats_of(session.get()).seed, seed) << "drawn anew";
}

}  // namespace
}  // namespace remora::capi_test
