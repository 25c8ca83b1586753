#include "lm/decoder_state.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "lm/fast.h"
#include "lm/slow.h"

namespace remora::lm {
namespace {

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

// A session whose steps go through LibTorch needs no threads of its own.
int pool_size(const LanguageModel& model, const DecoderOptions& options) {
  if (!one_go_applies(model, options.kv_mode, options.sdpa)) return 1;
  return options.threads > 0 ? options.threads : at::get_num_threads();
}

// A copy in host memory: the sampler changes it, and the tensor may be shared or overwritten.
std::vector<float> floats(const at::Tensor& logits) {
  const at::Tensor host = logits.to(at::kCPU).contiguous();
  const float* data = host.const_data_ptr<float>();
  return {data, data + host.numel()};
}

}  // namespace

Decoder::State::State(std::shared_ptr<const LanguageModel> shared, const DecoderOptions& chosen)
    : model(std::move(shared)),
      options(chosen),
      pool(pool_size(*model, chosen)),
      slow(*model, chosen.kv_mode, chosen.sdpa, chosen.capacity, pool),
      fast(*model, chosen.kv_mode, chosen.sdpa, pool),
      sampler(draw_shape(*model, chosen)) {}

void Decoder::State::check_columns(std::span<const int32_t> wanted) const {
  const LmConfig& config = model->config();
  const auto rows = static_cast<size_t>(stride());
  if (wanted.empty() || wanted.size() % rows != 0) {
    throw Error(
        Status::kInvalidArgument,
        concat("prompt: ", wanted.size(), " integers are no whole number of columns of ", rows));
  }
  for (size_t i = 0; i < wanted.size(); ++i) {
    const int64_t limit = i % rows == 0 ? config.vocab_size : config.codebook_size;
    if (wanted[i] >= 0 && wanted[i] < limit) continue;
    throw Error(Status::kInvalidArgument, concat("prompt: column ", i / rows, ", row ", i % rows,
                                                 " is ", wanted[i], ", expected 0 to ", limit - 1));
  }
}

int64_t Decoder::State::common_columns(std::span<const int32_t> wanted) const {
  const auto end = std::mismatch(columns.begin(), columns.end(), wanted.begin(), wanted.end());
  return (end.first - columns.begin()) / stride();
}

void Decoder::State::keep(int64_t count) {
  slow.keep(count, kv_len());
  fast.clear();
  columns.resize(static_cast<size_t>(count * stride()));
  exact_columns = std::min(exact_columns, count);
  prompt_columns = std::min(prompt_columns, count);
  ready = false;
  ended = false;
}

void Decoder::State::run_prefill(std::span<const int32_t> wanted, int64_t from,
                                 const CancelFlag& cancel) {
  const int64_t total = static_cast<int64_t>(wanted.size()) / stride();
  SlowOutput output;
  for (int64_t at = from; at < total;) {
    const int64_t until = std::min(total, (at / kPrefillChunk + 1) * kPrefillChunk);
    const auto chunk = wanted.subspan(static_cast<size_t>(at * stride()),
                                      static_cast<size_t>((until - at) * stride()));
    output = slow.prefill(chunk, at, cancel);
    columns.insert(columns.end(), chunk.begin(), chunk.end());
    if (exact_columns == at && until - at == kPrefillChunk) exact_columns = until;
    at = until;
  }
  prompt_columns = total;
  prompt_output = output;
  set_pending(std::move(output));
}

void Decoder::State::run_step(std::vector<int32_t> column, const CancelFlag& cancel) {
  SlowOutput output = slow.step(column, kv_len(), cancel);
  finish_step(std::move(column), std::move(output));
}

void Decoder::State::finish_step(std::vector<int32_t> column, SlowOutput output) {
  columns.insert(columns.end(), column.begin(), column.end());
  sampler.remember(std::move(column));
  set_pending(std::move(output));
}

void Decoder::State::set_pending(SlowOutput output) {
  pending = std::move(output);
  ready = true;
  if (observer != nullptr) observer->on_slow(pending.logits.to(at::kCPU), pending.hidden);
}

Frame Decoder::State::begin_step(const CancelFlag& cancel) {
  if (!ready) {
    throw Error(Status::kInvalidState, ended ? "step: the turn has ended; prefill the next prompt"
                                             : "step: there is no prompt yet; call prefill");
  }
  slow.kv().reserve(kv_len() + 1);
  cancel.check("language model");
  ready = false;
  Frame frame;
  std::vector<float> logits = floats(pending.logits);
  frame.main_token = sampler.main_token(logits);
  frame.is_end = frame.main_token == model->end_token();
  if (frame.is_end) {
    sampler.skip_codes();
    ended = true;
    return frame;
  }
  frame.codes.push_back(frame.main_token - model->semantic_begin());
  return frame;
}

int32_t Decoder::State::draw_code(int64_t codebook, const at::Tensor& logits) {
  if (observer != nullptr) observer->on_fast(codebook, logits.to(at::kCPU));
  std::vector<float> host = floats(logits);
  return sampler.code(codebook, host);
}

void Decoder::State::draw_codes(Frame& frame, const CancelFlag& cancel) {
  for (int64_t codebook = 1; codebook < model->config().num_codebooks; ++codebook) {
    const at::Tensor next = codebook == 1 ? fast.begin(pending.hidden, frame.codes.back(), cancel)
                                          : fast.next(codebook - 1, frame.codes.back(), cancel);
    frame.codes.push_back(draw_code(codebook, next));
  }
}

void Decoder::State::rebuild_history() {
  sampler.clear_history();
  for (int64_t at = prompt_columns * stride(); at < static_cast<int64_t>(columns.size());
       at += stride()) {
    sampler.remember({columns.begin() + at, columns.begin() + at + stride()});
  }
}

void Decoder::State::copy_cache_from(const State& other) {
  const int64_t length = other.kv_len();
  if (length == 0) return;
  slow.kv().reserve(length);
  for (int64_t layer = 0; layer < slow.kv().shape().layers; ++layer) {
    slow.kv().write(layer, other.slow.kv().keys(layer, length),
                    other.slow.kv().values(layer, length), {0, length, {}});
  }
}

}  // namespace remora::lm
