// One session over a prompt of exact length, every call timed.
#pragma once

#include <remora/remora.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "handles.h"
#include "model_loading.h"

namespace remora::cli {

// A prompt matrix [1 + n_codebooks, columns], row-major: the model's own prompt for a long text
// with its middle taken out, so that both ends are what the model knows.
std::vector<int32_t> prompt_of_length(const LoadedModel& model, int64_t columns);

// Always the most likely code, no bound on the length.
remora_sampling greedy_sampling();

class Trial {
 public:
  // Times are in milliseconds.
  Trial(const LoadedModel& model, const remora_session_params& params,
        const remora_sampling& sampling);

  // From an empty cache. On a GPU this is the time to hand the work over: see settle().
  double prefill(const std::vector<int32_t>& prompt);
  // Waits until a GPU has done what was handed over; steps wait by themselves.
  void settle();
  // One frame, or nothing when the model has ended.
  std::optional<double> step();
  // The first frame behind the prompt once more, for a model that has ended too early to be timed.
  double again();
  double step_or_again();
  // Of the next frame's first code; needs REMORA_SESSION_KEEP_LOGITS.
  std::vector<float> logits() const;
  // The slow model over the newest column once more, as a step does it; on the CPU only, where the
  // call waits for it. Ends the generation.
  double slow_step();

  // Goes on with other random choices: for a model that ended too early.
  void reseed();

  remora_stats stats() const;
  // Of all frames since the last prefill, frame by frame.
  const std::vector<int32_t>& codes() const { return codes_; }

 private:
  double prefill_again();

  const LoadedModel& model_;
  SessionPtr session_;
  remora_sampling sampling_;
  std::vector<int32_t> frame_;
  std::vector<int32_t> codes_;
  std::vector<int32_t> prompt_;
};

}  // namespace remora::cli
