// A cancel takes effect within one step or one piece, wherever the work is. Times are compared with
// those of the same work in the same run.
#include <ATen/ops/zeros.h>
#include <sys/time.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csignal>
#include <ctime>
#include <filesystem>
#include <functional>
#include <thread>

#include "c_api/handles.h"
#include "capi_test.h"
#include "engine/sound.h"
#include "io/audio_file.h"
#include "io/temp_dir.h"
#include "lm/decoder.h"
#include "lm/language_model.h"

namespace remora::capi_test {
namespace {

// CPU seconds of this process, which computes on one thread. Not the time of day: on a busy machine
// a process waits for its turn, which says nothing about how much it still did.
double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Below this it is the way out: exceptions, freeing what there was.
constexpr double kNoise = 0.01;  // seconds
// Pieces that may pass between cancel and return: the one that runs, and the rest for pieces that
// take longer than others and a processor that changes its pace.
constexpr int kPieces = 4;

struct LongWork {
  std::function<bool()> run;  // true when it was cancelled
  std::function<void()> cancel;
  std::function<void()> again;  // clears the cancel
  int pieces = 1;               // that it is made of
};

// What the clock's signal does, and when it came.
const LongWork* g_work = nullptr;
double g_asked = 0;

extern "C" void on_clock(int /*signal*/) {
  g_asked = cpu_seconds();
  g_work->cancel();
}

struct Stopped {
  bool cancelled = false;
  double late = 0;  // CPU seconds from the cancel to the return
};

// Runs the work and cancels it when it has used `after` CPU seconds: by a signal of that clock, for
// another thread might get its turn only when all is over.
Stopped stop_after(const LongWork& work, double after) {
  g_work = &work;
  const auto before = std::signal(SIGPROF, on_clock);
  const auto whole = std::floor(after);
  const itimerval timer{
      {}, {static_cast<time_t>(whole), static_cast<suseconds_t>(1e6 * (after - whole))}};
  EXPECT_EQ(setitimer(ITIMER_PROF, &timer, nullptr), 0);
  Stopped stopped;
  stopped.cancelled = work.run();
  stopped.late = cpu_seconds() - g_asked;
  const itimerval off{};
  setitimer(ITIMER_PROF, &off, nullptr);
  std::signal(SIGPROF, before);
  return stopped;
}

// Runs the work to its end, then cancels it at a quarter and at the half of that.
void expect_prompt_stop(const LongWork& work) {
  const double start = cpu_seconds();
  ASSERT_FALSE(work.run());
  const double whole = cpu_seconds() - start;
  const double allowed = std::max(kNoise, kPieces * whole / work.pieces);
  ASSERT_GT(whole / 2, 2 * allowed) << "too short to tell a prompt stop from its end";
  for (const double share : {0.25, 0.5}) {
    work.again();
    const Stopped stopped = stop_after(work, whole * share);
    EXPECT_TRUE(stopped.cancelled) << "it went on to its end";
    EXPECT_LE(stopped.late, allowed) << "of " << whole << " s in all";
  }
  work.again();
}

// The same for work below the C interface.
LongWork flagged(CancelFlag& flag, int pieces, std::function<void(const CancelFlag&)> body) {
  return {[&flag, body = std::move(body)] {
            try {
              body(flag);
              return false;
            } catch (const Error& error) {
              EXPECT_EQ(error.status(), Status::kCancelled) << error.text();
              return true;
            }
          },
          [&flag] { flag.raise(); }, [&flag] { flag.clear(); }, pieces};
}

std::vector<float> sound_of(int seconds, int32_t rate) {
  std::vector<float> pcm(static_cast<size_t>(rate) * static_cast<size_t>(seconds));
  for (size_t i = 0; i < pcm.size(); ++i) {
    pcm[i] = 0.4F * std::sin(0.031F * static_cast<float>(i % 100003));
  }
  return pcm;
}

class CancelTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { model_ = open_tiny("s2-pro").release(); }
  static void TearDownTestSuite() {
    remora_model_destroy(model_);
    model_ = nullptr;
  }
  static remora_model* model_;
};
remora_model* CancelTest::model_ = nullptr;

constexpr int kMinuteFrames = 1292;  // 60 s at 2048 samples of 44.1 kHz a frame

TEST_F(CancelTest, RB_56_a_minute_of_reference_sound_stops_within_a_piece) {
  const std::vector<float> pcm = sound_of(60, 44100);
  CancelFlag flag;
  constexpr int kPieces60 = kMinuteFrames / codec::kEncodePieceFrames;
  expect_prompt_stop(flagged(flag, kPieces60, [&](const CancelFlag& cancel) {
    engine::encode(*model_->object, {pcm, 1, 44100}, &cancel);
  }));
}

TEST_F(CancelTest, RB_56_a_minute_decoded_in_one_go_stops_within_a_piece) {
  remora_session_params params;
  ASSERT_OK(remora_session_params_init(&params, sizeof params));
  params.codec_chunk_first = params.codec_chunk_next = kMinuteFrames;
  const auto session = open_session(model_, &params);
  const remora_sampling sampling = greedy(kMinuteFrames);
  ASSERT_OK(remora_session_set_sampling(session.get(), &sampling));
  std::vector<char> state;
  const remora_prompt prompt = text_prompt("Hello world.");
  ASSERT_OK(remora_session_prefill(session.get(), &prompt));
  while (remora_session_step(session.get(), nullptr) == REMORA_OK) {
  }
  size_t size = 0;
  ASSERT_OK(remora_session_save(session.get(), nullptr, 0, &size));
  state.resize(size);
  ASSERT_OK(remora_session_save(session.get(), state.data(), state.size(), &size));

  std::vector<float> pcm(1);
  size_t n = 0;
  LongWork work;
  work.run = [&] {
    const remora_status status = remora_session_read_pcm(session.get(), pcm.data(), 1, &n);
    EXPECT_TRUE(status == REMORA_OK || status == REMORA_E_CANCELLED) << remora_last_error();
    return status == REMORA_E_CANCELLED;
  };
  work.cancel = [&] { remora_session_cancel(session.get()); };
  work.again = [&] {
    ASSERT_OK(remora_session_reset(session.get()));
    ASSERT_OK(remora_session_load(session.get(), state.data(), state.size()));
  };
  work.pieces = kMinuteFrames / codec::kPieceFrames;
  expect_prompt_stop(work);
}

TEST_F(CancelTest, RB_56_a_whole_clip_of_codes_stops_within_a_piece) {
  const auto codec = model_->object->codec();
  const at::Tensor codes = at::zeros({codec->config().n_codebooks(), kMinuteFrames},
                                     at::TensorOptions().dtype(at::kInt));
  CancelFlag flag;
  expect_prompt_stop(flagged(flag, kMinuteFrames / codec::kPieceFrames,
                             [&](const CancelFlag& cancel) { codec->decode(codes, &cancel); }));
}

// Wide enough that 2,000 columns take a while on any machine.
std::shared_ptr<const lm::LanguageModel> wide_model() {
  lm::LmConfig config = open_tiny("s2-pro")->object->lm_config();
  config.slow.layers = 6;
  config.slow.dim = 512;
  config.slow.heads = 8;
  config.slow.kv_heads = 4;
  config.slow.head_dim = 64;
  config.slow.intermediate = 1536;
  lm::LoadOptions options;
  options.semantic_begin = 8;
  options.semantic_end = 8 + static_cast<int32_t>(config.codebook_size) - 1;
  options.end_token = 1;
  return lm::LanguageModel::random(config, options, 3);
}

TEST_F(CancelTest, RB_56_a_prefill_of_two_thousand_columns_stops_within_a_layer_of_a_chunk) {
  const auto model = wide_model();
  lm::Decoder decoder(model, {});
  decoder.set_sampling({}, 1);
  std::vector<int32_t> columns(static_cast<size_t>(model->config().column_size()) * 2000, 0);
  CancelFlag flag;
  const int pieces = 2000 / 256 * static_cast<int>(model->config().slow.layers);
  expect_prompt_stop(flagged(flag, pieces, [&](const CancelFlag& cancel) {
    decoder.prefill(columns, cancel, lm::Reuse::kNone);
  }));
}

TEST_F(CancelTest, RB_56_no_step_begins_after_cancel_has_returned) {
  const auto session = open_session(model_);
  const remora_sampling sampling = greedy(3000);
  ASSERT_OK(remora_session_set_sampling(session.get(), &sampling));
  for (int round = 0; round < 10; ++round) {
    std::atomic<int> frames{0};
    remora_status status = REMORA_OK;
    std::thread worker([&] {
      const remora_prompt prompt = text_prompt("Hello world.");
      while (status >= 0) {
        status = remora_session_prefill(session.get(), &prompt);
        while (status == REMORA_OK) {
          status = remora_session_step(session.get(), nullptr);
          if (status == REMORA_OK) ++frames;
        }
      }
    });
    while (frames < 3 + round) std::this_thread::yield();
    remora_session_cancel(session.get());
    const int before = frames;
    worker.join();
    EXPECT_EQ(status, REMORA_E_CANCELLED);
    EXPECT_LE(frames, before + 1) << "the step that ran may end, no other begins";
    ASSERT_OK(remora_session_reset(session.get()));
  }
}

// Raises the flag while the fast stage is in a frame's middle.
class StopInFastStage final : public lm::DecoderObserver {
 public:
  explicit StopInFastStage(CancelFlag& flag) : flag_(flag) {}
  void on_fast(int64_t codebook, const at::Tensor& /*logits*/) override {
    last_ = codebook;
    if (codebook == 2) flag_.raise();
  }
  int64_t last() const { return last_; }

 private:
  CancelFlag& flag_;
  int64_t last_ = 0;
};

TEST_F(CancelTest, RB_56_the_fast_stage_stops_between_two_codebooks) {
  const auto model = model_->object->language_model();
  ASSERT_GT(model->config().num_codebooks, 3);
  const std::vector<int32_t> columns(static_cast<size_t>(model->config().column_size()) * 9, 1);
  for (const nn::SdpaPolicy path : {nn::SdpaPolicy::kAuto, nn::SdpaPolicy::kMath}) {
    lm::DecoderOptions options;
    options.sdpa = path;  // steps in one go, and through LibTorch
    lm::Decoder decoder(model, options);
    CancelFlag flag;
    StopInFastStage observer(flag);
    decoder.set_observer(&observer);
    decoder.prefill(columns, flag, lm::Reuse::kNone);
    EXPECT_THROW(decoder.step(flag), Error);
    EXPECT_EQ(observer.last(), 2) << "no codebook behind the one where it was asked to stop";
  }
}

TEST_F(CancelTest, RB_56_a_cancelled_file_is_removed_and_an_old_one_stays) {
  const std::vector<float> pcm = sound_of(180, 48000);
  const test::TempDir dir;
  struct Kind {
    io::AudioFormat format;
    const char* name;
  };
  for (const Kind kind :
       {Kind{io::AudioFormat::kFlac24, "new.flac"}, Kind{io::AudioFormat::kOggOpus, "old.ogg"}}) {
    const std::string path = dir.path(kind.name);
    const bool old = path.ends_with("old.ogg");
    CancelFlag flag;
    LongWork work =
        flagged(flag, static_cast<int>(pcm.size() >> 14), [&](const CancelFlag& cancel) {
          io::write_audio(path, pcm, 1, 48000, kind.format, &cancel);
        });
    const auto run = std::move(work.run);
    work.run = [&, run] {
      // Before: a file of another time, or none.
      std::filesystem::remove(path);
      if (old) dir.write("old.ogg", "what was there");
      const bool cancelled = run();
      if (cancelled && old) {
        EXPECT_EQ(test::read_file(path), "what was there");
      }
      EXPECT_EQ(std::filesystem::exists(path), old || !cancelled);
      return cancelled;
    };
    expect_prompt_stop(work);
    for (const auto& entry : std::filesystem::directory_iterator(dir.path())) {
      EXPECT_EQ(entry.path().extension().string().find(".part"), std::string::npos) << entry.path();
    }
  }
}

}  // namespace
}  // namespace remora::capi_test
