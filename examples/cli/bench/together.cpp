#include "bench/together.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "bench/timing.h"
#include "bench/trial.h"
#include "failure.h"
#include "interrupt.h"
#include "terminal.h"

namespace remora::cli {
namespace {

constexpr int kWarmRounds = 2;  // caches grow and buffers are made in the first ones

// As many sessions as the largest count, each with random choices of its own.
class Party {
 public:
  Party(const LoadedModel& model, const SessionOptions& options, int64_t prefix, int64_t size)
      : prompt_(prompt_of_length(model, prefix)), rows_(model.info.n_codebooks + 1) {
    remora_session_params params = options.to_library();
    for (int64_t i = 0; i < size; ++i) {
      remora_session* made = nullptr;
      check(remora_session_create(model.model.get(), &params, &made));
      sessions_.emplace_back(made);
      raw_.push_back(made);
      seed(i, static_cast<uint64_t>(i));
    }
    statuses_.resize(raw_.size());
  }

  // One frame of the first `count`, timed; a session that had ended begins anew, untimed.
  double step(size_t count) {
    if (Interrupt::raised()) throw Failure(kInterrupted, "interrupted");
    for (;;) {
      const auto start = std::chrono::steady_clock::now();
      check(remora_sessions_step(raw_.data(), count, nullptr, statuses_.data()));
      const double elapsed = milliseconds_since(start);
      bool all = true;
      for (size_t i = 0; i < count; ++i) {
        if (statuses_[i] == REMORA_OK) continue;
        check(statuses_[i] == REMORA_END ? REMORA_OK : statuses_[i]);
        seed(static_cast<int64_t>(i), next_seed_++);
        all = false;
      }
      if (all) return elapsed;
    }
  }

 private:
  void seed(int64_t index, uint64_t value) {
    remora_session* session = raw_[static_cast<size_t>(index)];
    remora_sampling sampling;
    check(remora_sampling_init(&sampling, sizeof sampling));
    sampling.max_frames_per_byte = 0;
    sampling.seed = value;
    check(remora_session_set_sampling(session, &sampling));
    remora_prompt prompt;
    check(remora_prompt_init(&prompt, sizeof prompt));
    prompt.tokens = prompt_.data();
    prompt.n_tokens = prompt_.size() / static_cast<size_t>(rows_);
    check(remora_session_prefill(session, &prompt));
  }

  std::vector<int32_t> prompt_;  // [1 + n_codebooks, columns]
  int64_t rows_;
  std::vector<SessionPtr> sessions_;
  std::vector<remora_session*> raw_;
  std::vector<remora_status> statuses_;
  uint64_t next_seed_ = 1000;
};

}  // namespace

Json measure_together(const LoadedModel& model, const SessionOptions& session, int64_t prefix,
                      const std::vector<int64_t>& counts, int repeat) {
  Party party(model, session, prefix, *std::max_element(counts.begin(), counts.end()));
  std::vector<Samples> times(counts.size());
  for (int round = 0; round < kWarmRounds + repeat; ++round) {
    for (size_t i = 0; i < counts.size(); ++i) {
      const double elapsed = party.step(static_cast<size_t>(counts[i]));
      if (round >= kWarmRounds) times[i].add(elapsed);
    }
  }
  Json json = Json::object();
  for (size_t i = 0; i < counts.size(); ++i) {
    Json& entry = json[std::to_string(counts[i])];
    entry = times[i].json();
    entry["frames_per_second"] = rounded(1e3 * static_cast<double>(counts[i]) / times[i].median());
  }
  return json;
}

}  // namespace remora::cli
