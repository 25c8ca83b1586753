// What a Decoder holds; shared by its source files.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "lm/decoder.h"
#include "lm/fast_pass.h"
#include "lm/frame_sampler.h"
#include "lm/slow_pass.h"
#include "nn/thread_pool.h"

namespace remora::lm {

// Columns that one prefill pass takes: bounds its scratch memory. Passes begin at multiples of it,
// so that a column's numbers do not depend on what was reused.
inline constexpr int64_t kPrefillChunk = 256;

struct Decoder::State {
  State(std::shared_ptr<const LanguageModel> shared, const DecoderOptions& chosen);

  int64_t stride() const { return model->config().column_size(); }
  int64_t kv_len() const { return static_cast<int64_t>(columns.size()) / stride(); }

  // Throws Error{kInvalidArgument} naming column and row.
  void check_columns(std::span<const int32_t> wanted) const;
  // Leading columns of `wanted` that are in the cache already.
  int64_t common_columns(std::span<const int32_t> wanted) const;
  // Forgets the columns behind the first `count`, and the outputs.
  void keep(int64_t count);
  // Runs columns `from` and up of `wanted`; earlier ones are in the cache.
  void run_prefill(std::span<const int32_t> wanted, int64_t from, const CancelFlag& cancel);
  // Runs one drawn column through the slow model.
  void run_step(std::vector<int32_t> column, const CancelFlag& cancel);
  // What a step begins with: everything that can be refused, then the main token and the code it
  // stands for. Until the step has been finished there is nothing to draw from.
  Frame begin_step(const CancelFlag& cancel);
  // Draws the codes behind the first one.
  void draw_codes(Frame& frame, const CancelFlag& cancel);
  // The code of `codebook` from the fast model's logits, which are copied.
  int32_t draw_code(int64_t codebook, const at::Tensor& logits);
  // A frame's column has gone through the slow model, with this outcome.
  void finish_step(std::vector<int32_t> column, SlowOutput output);
  void set_pending(SlowOutput output);
  // Makes the sampler's history that of the columns behind the prompt.
  void rebuild_history();
  void copy_cache_from(const State& other);

  std::shared_ptr<const LanguageModel> model;
  DecoderOptions options;
  nn::ThreadPool pool;
  SlowPass slow;
  FastPass fast;
  FrameSampler sampler;
  std::vector<int32_t> columns;  // of every position in the cache
  int64_t prompt_columns = 0;    // the leading ones that prefill() was given; frames follow
  int64_t exact_columns = 0;     // the leading ones that prefill computed in whole chunks
  SlowOutput pending;            // at the last position
  SlowOutput prompt_output;      // at the prompt's last position, for going back there
  bool ready = false;            // `pending` may be drawn from
  bool ended = false;
  DecoderObserver* observer = nullptr;
  // For the steps that this session leads; null until the first. Shared for its type alone, which
  // only decoder_batch.cpp knows.
  std::shared_ptr<Batch> batch;
};

// The column [main token, codes...] of a frame.
std::vector<int32_t> column_of(const Frame& frame);

}  // namespace remora::lm
