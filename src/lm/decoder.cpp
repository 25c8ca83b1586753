#include "lm/decoder.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "lm/fast.h"
#include "lm/fast_pass.h"
#include "lm/frame_sampler.h"
#include "lm/slow.h"
#include "lm/slow_pass.h"

namespace remora::lm {
namespace {

// Columns that one prefill pass takes: bounds its scratch memory. Passes begin at multiples of it,
// so that a column's numbers do not depend on what was reused.
constexpr int64_t kChunk = 256;

DrawShape draw_shape(const LanguageModel& model, const DecoderOptions& options) {
  DrawShape shape;
  shape.family = model.config().family;
  shape.vocab_size = model.config().vocab_size;
  shape.codebook_size = model.config().codebook_size;
  shape.head_tokens = model.slow().head_tokens();
  shape.end_token = model.end_token();
  shape.num_codebooks = static_cast<int32_t>(model.config().num_codebooks);
  shape.s1_penalty_parity = options.s1_penalty_parity;
  return shape;
}

std::span<float> floats(at::Tensor& logits) {
  logits = logits.to(at::kCPU).contiguous();
  return {logits.mutable_data_ptr<float>(), static_cast<size_t>(logits.numel())};
}

}  // namespace

struct Decoder::State {
  State(std::shared_ptr<const LanguageModel> shared, const DecoderOptions& chosen)
      : model(std::move(shared)),
        options(chosen),
        slow(*model, chosen.kv_mode, chosen.sdpa, chosen.capacity),
        fast(*model, chosen.kv_mode, chosen.sdpa),
        sampler(draw_shape(*model, chosen)) {}

  int64_t stride() const { return model->config().column_size(); }
  int64_t kv_len() const { return static_cast<int64_t>(columns.size()) / stride(); }
  void check_columns(std::span<const int32_t> wanted) const;
  int64_t common_columns(std::span<const int32_t> wanted) const;
  void run_prefill(std::span<const int32_t> wanted, int64_t from, const CancelFlag& cancel);
  void keep(int64_t count);
  void set_pending(SlowOutput output);
  Frame draw(const CancelFlag& cancel);

  std::shared_ptr<const LanguageModel> model;
  DecoderOptions options;
  SlowPass slow;
  FastPass fast;
  FrameSampler sampler;
  std::vector<int32_t> columns;  // of every position in the cache
  // Leading columns that prefill computed in whole chunks, or as the rest of a prompt.
  int64_t exact_columns = 0;
  SlowOutput pending;  // of the last position
  bool ready = false;  // `pending` may be sampled
  bool ended = false;
  DecoderObserver* observer = nullptr;
};

void Decoder::State::check_columns(std::span<const int32_t> wanted) const {
  const LmConfig& config = model->config();
  if (wanted.empty() || wanted.size() % static_cast<size_t>(stride()) != 0) {
    throw Error(Status::kInvalidArgument,
                concat("prompt: ", wanted.size(), " integers are no whole number of columns of ",
                       stride()));
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    const size_t row = i % static_cast<size_t>(stride());
    const int64_t limit = row == 0 ? config.vocab_size : config.codebook_size;
    if (wanted[i] >= 0 && wanted[i] < limit) continue;
    throw Error(Status::kInvalidArgument,
                concat("prompt: column ", i / static_cast<size_t>(stride()), ", row ", row, " is ",
                       wanted[i], ", expected 0 to ", limit - 1));
  }
}

int64_t Decoder::State::common_columns(std::span<const int32_t> wanted) const {
  const auto end = std::mismatch(columns.begin(), columns.end(), wanted.begin(), wanted.end());
  return (end.first - columns.begin()) / stride();
}

void Decoder::State::keep(int64_t count) {
  columns.resize(static_cast<size_t>(count * stride()));
  exact_columns = std::min(exact_columns, count);
  ready = false;
  ended = false;
}

void Decoder::State::set_pending(SlowOutput output) {
  pending = std::move(output);
  pending.logits = pending.logits.to(at::kCPU).contiguous();
  ready = true;
  if (observer != nullptr) observer->on_slow(pending.logits, pending.hidden);
}

void Decoder::State::run_prefill(std::span<const int32_t> wanted, int64_t from,
                                 const CancelFlag& cancel) {
  const int64_t total = static_cast<int64_t>(wanted.size()) / stride();
  slow.kv().reserve(total);
  SlowOutput output;
  for (int64_t at = from; at < total;) {
    const int64_t until = std::min(total, (at / kChunk + 1) * kChunk);
    const auto chunk = wanted.subspan(static_cast<size_t>(at * stride()),
                                      static_cast<size_t>((until - at) * stride()));
    output = slow.prefill(chunk, at, cancel);
    columns.insert(columns.end(), chunk.begin(), chunk.end());
    if (exact_columns == at && until - at == kChunk) exact_columns = until;
    at = until;
  }
  set_pending(std::move(output));
}

Frame Decoder::State::draw(const CancelFlag& cancel) {
  Frame frame;
  frame.main_token = sampler.main_token(floats(pending.logits));
  frame.is_end = frame.main_token == model->end_token();
  if (frame.is_end) {
    sampler.skip_codes();
    return frame;
  }
  const int64_t codebooks = model->config().num_codebooks;
  frame.codes.push_back(frame.main_token - model->semantic_begin());
  for (int64_t codebook = 1; codebook < codebooks; ++codebook) {
    at::Tensor logits = codebook == 1 ? fast.begin(pending.hidden, frame.codes.back(), cancel)
                                      : fast.next(codebook - 1, frame.codes.back(), cancel);
    if (observer != nullptr) observer->on_fast(codebook, logits);
    frame.codes.push_back(sampler.code(codebook, floats(logits)));
  }
  return frame;
}

Decoder::Decoder(std::shared_ptr<const LanguageModel> model, const DecoderOptions& options) {
  const c10::InferenceMode inference;
  state_ = std::make_unique<State>(std::move(model), options);
}
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
  if (reuse == Reuse::kExact) reused = std::min(reused, s.exact_columns) / kChunk * kChunk;
  s.keep(reused);
  s.sampler.clear_history();
  s.run_prefill(columns, reused, cancel);
  return reused;
}

Frame Decoder::step(const CancelFlag& cancel) {
  const c10::InferenceMode inference;
  State& s = *state_;
  if (!s.ready) {
    throw Error(Status::kInvalidState, s.ended ? "step: the turn has ended; prefill the next prompt"
                                               : "step: there is no prompt yet; call prefill");
  }
  s.slow.kv().reserve(s.kv_len() + 1);
  cancel.check("language model");
  s.ready = false;
  Frame frame = s.draw(cancel);
  if (frame.is_end) {
    s.ended = true;
    return frame;
  }
  std::vector<int32_t> column{frame.main_token};
  column.insert(column.end(), frame.codes.begin(), frame.codes.end());
  SlowOutput output = s.slow.step(column, s.kv_len(), cancel);
  s.columns.insert(s.columns.end(), column.begin(), column.end());
  s.sampler.remember(std::move(column));
  s.set_pending(std::move(output));
  return frame;
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

void Decoder::reset() {
  state_->keep(0);
  state_->sampler.clear_history();
}

void Decoder::set_observer(DecoderObserver* observer) { state_->observer = observer; }

}  // namespace remora::lm
