#include "lm/decoder.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "lm/decoder_state.h"

namespace remora::lm {

Decoder::Decoder(std::shared_ptr<const LanguageModel> model, const DecoderOptions& options) {
  const c10::InferenceMode inference;
  state_ = std::make_unique<State>(std::move(model), options);
}
Decoder::Decoder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;

const LanguageModel& Decoder::model() const { return *state_->model; }

void Decoder::set_sampling(const SamplingParams& params, uint64_t seed) {
  state_->sampler.set(params, seed);
}

int64_t Decoder::prefill(std::span<const int32_t> columns, const CancelFlag& cancel, Reuse reuse) {
  const c10::InferenceMode inference;
  State& s = *state_;
  s.check_columns(columns);
  const int64_t total = static_cast<int64_t>(columns.size()) / s.stride();
  s.slow.kv().reserve(total);
  // The last column is run in any case: its outputs are what the next frame is drawn from.
  int64_t reused = reuse == Reuse::kNone ? 0 : std::min(s.common_columns(columns), total - 1);
  if (reuse == Reuse::kExact) {
    reused = std::min(reused, s.exact_columns) / kPrefillChunk * kPrefillChunk;
  }
  s.keep(reused);
  s.sampler.clear_history();
  s.run_prefill(columns, reused, cancel);
  return reused;
}

Frame Decoder::step(const CancelFlag& cancel) {
  const c10::InferenceMode inference;
  State& s = *state_;
  Frame frame = s.begin_step(cancel);
  if (frame.is_end) return frame;
  s.draw_codes(frame, cancel);
  s.run_step(column_of(frame), cancel);
  return frame;
}

at::Tensor Decoder::next_logits() const {
  const State& s = *state_;
  const bool there = (s.ready || s.ended) && s.pending.logits.defined();
  return there ? s.pending.logits.to(at::kCPU) : at::Tensor();
}

int64_t Decoder::kv_len() const { return state_->kv_len(); }

std::span<const int32_t> Decoder::columns() const { return state_->columns; }

DecoderStats Decoder::stats() const {
  const State& s = *state_;
  return {s.slow.prefill_backend(),
          s.slow.step_backend(),
          s.options.kv_mode,
          s.slow.kv().capacity(),
          s.slow.kv().allocated_bytes(),
          s.slow.graph_captures() + s.fast.graph_captures()};
}

void Decoder::rewind(int64_t position, const CancelFlag& cancel) {
  const c10::InferenceMode inference;
  State& s = *state_;
  if (position < 0 || position > s.kv_len()) {
    throw Error(Status::kInvalidArgument,
                concat("rewind: position ", position, " is outside 0 to ", s.kv_len()));
  }
  if (position == 0) return reset();
  const int64_t prompt = s.prompt_columns;
  if (position < prompt || (position == prompt && !s.prompt_output.logits.defined())) {
    // Inside the prompt: as a prefill of that much would do it, chunk by chunk.
    const std::vector<int32_t> kept(s.columns.begin(), s.columns.begin() + position * s.stride());
    prefill(kept, cancel, Reuse::kExact);
    return;
  }
  if (position == prompt) {
    s.keep(position);
    s.rebuild_history();
    s.set_pending(s.prompt_output);
    return;
  }
  // Behind it: the last frame kept goes through the step path once more.
  const auto last = s.columns.begin() + (position - 1) * s.stride();
  std::vector<int32_t> column(last, last + s.stride());
  s.keep(position - 1);
  s.rebuild_history();
  s.run_step(std::move(column), cancel);
}

Decoder Decoder::clone() const {
  const c10::InferenceMode inference;
  const State& s = *state_;
  auto copy = std::make_unique<State>(s.model, s.options);
  copy->copy_cache_from(s);
  copy->sampler = s.sampler;
  copy->columns = s.columns;
  copy->prompt_columns = s.prompt_columns;
  copy->exact_columns = s.exact_columns;
  for (const auto& [to, from] :
       {std::pair{&copy->pending, &s.pending}, std::pair{&copy->prompt_output, &s.prompt_output}}) {
    if (!from->logits.defined()) continue;
    *to = {from->logits.clone(), from->hidden.clone()};
  }
  copy->ready = s.ready;
  copy->ended = s.ended;
  return Decoder(std::move(copy));
}

void Decoder::reset() {
  const c10::InferenceMode inference;
  state_->keep(0);
  state_->sampler.clear_history();
}

void Decoder::set_observer(DecoderObserver* observer) { state_->observer = observer; }

}  // namespace remora::lm
