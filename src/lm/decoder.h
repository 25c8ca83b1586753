// One session's state over a shared model: prompt in, one frame of codes a step out.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <span>
#include <vector>

#include "base/cancel.h"
#include "lm/language_model.h"
#include "lm/sampling.h"
#include "nn/kv_cache.h"

namespace remora::lm {

struct Frame {
  int32_t main_token = 0;
  std::vector<int32_t> codes;  // num_codebooks; empty when is_end
  bool is_end = false;         // the end token was drawn: nothing to speak, no further frame
};

// Sees every logit vector before it is sampled; for tests and bench quality checks.
class DecoderObserver {
 public:
  virtual ~DecoderObserver() = default;
  // After a prefill or a step. logits: [head rows] float32, entry i is token
  // LanguageModel::slow().head_tokens()[i]; hidden: [fast dim], as the fast stack gets it.
  virtual void on_slow(const at::Tensor& /*logits*/, const at::Tensor& /*hidden*/) {}
  // codebook: 1 .. num_codebooks - 1. logits: [residual rows] float32.
  virtual void on_fast(int64_t /*codebook*/, const at::Tensor& /*logits*/) {}
};

// What a prefill may keep from the columns that are in the cache already.
enum class Reuse {
  kNone,
  // Only columns that a prefill computed in whole chunks: the result is bit-equal to a prefill
  // without reuse.
  kExact,
  // Every common leading column, generated ones included: equal within rounding.
  kAll,
};

struct DecoderOptions {
  int64_t capacity = 0;  // positions; 0 grows with use up to the model's max_seq_len
  nn::KvMode kv_mode = nn::KvMode::kActivePrefix;
  // kAuto: on the CPU, in the default KV mode, decode steps run in one go with attention of their
  // own (reported as kBuiltin); everywhere else it is LibTorch's choice.
  nn::SdpaPolicy sdpa = nn::SdpaPolicy::kAuto;
  // Of decode steps that run in one go on the CPU; 0 is as many as LibTorch uses when the session
  // is made. The numbers do not depend on it.
  int threads = 0;
  // Reference data was made with a history rule that is a mistake (the S1 family's main-token
  // penalty looks at the oldest frame's codes): tests switch it on to compare.
  bool s1_penalty_parity = false;
};

// What load() asks of the bytes.
enum class Loading {
  kAny,
  kMidTurn,  // a frame can be drawn next
};

struct DecoderStats {
  nn::SdpaPolicy sdpa_prefill = nn::SdpaPolicy::kAuto;  // the backend that ran; kAuto = none yet
  nn::SdpaPolicy sdpa_step = nn::SdpaPolicy::kAuto;
  nn::KvMode kv_mode = nn::KvMode::kActivePrefix;
  int64_t capacity = 0;         // positions there is room for now
  uint64_t kv_bytes = 0;        // memory reserved for the cache
  uint64_t graph_captures = 0;  // CUDA graphs captured so far
};

// Not thread-safe: one thread at a time, any thread. After an exception from prefill or step the
// written columns stay valid, but a prefill must come before the next step.
class Decoder {
 public:
  // Throws Error{kInvalidArgument} when the capacity is negative or above max_seq_len, or missing
  // for a mode that needs one; Error{kUnsupported} when the SDPA policy cannot run here.
  Decoder(std::shared_ptr<const LanguageModel> model, const DecoderOptions& options);
  ~Decoder();
  Decoder(Decoder&&) noexcept;

  const LanguageModel& model() const;

  // Sets the parameters and restarts the random stream: the same seed gives the same frames for
  // the same prompt. Throws Error{kInvalidArgument} naming the field.
  void set_sampling(const SamplingParams& params, uint64_t seed);

  // Feeds a whole prompt: columns of 1 + num_codebooks integers, one column after the other.
  // Forgets earlier positions but for the reused ones, and the frame history of the sampler; the
  // random stream goes on. Returns the number of columns reused. The cancel flag is checked
  // between layers; a cancelled prefill can be repeated and keeps what was done.
  // Throws Error{kInvalidArgument} naming column and row of an id outside its table,
  // Error{kContextFull} before any work when the prompt does not fit.
  int64_t prefill(std::span<const int32_t> columns, const CancelFlag& cancel,
                  Reuse reuse = Reuse::kAll);

  // Draws the next frame and, unless it is the end, runs the slow model over it, so that kv_len
  // grows by one. Throws Error{kInvalidState} without a prefill or after the end,
  // Error{kContextFull} before any work when no position is left, Error{kNumeric} when the logits
  // cannot be sampled.
  Frame step(const CancelFlag& cancel);

  // One session's part in step_together().
  struct Turn {
    Decoder* decoder = nullptr;
    const CancelFlag* cancel = nullptr;
    Frame frame{};               // out
    std::exception_ptr error{};  // out: what step() would have thrown
  };
  // Sessions that may share a step.
  static constexpr size_t kMaxTogether = 8;
  // step() of several sessions of one model (1 .. kMaxTogether, each once), with one read of the
  // weights for all of them where decode steps run in one go on the CPU; elsewhere one after the
  // other. Equal to step() within rounding. An error, a cancel or an end of one leaves the others
  // going.
  static void step_together(std::span<Turn> turns);

  // What the next frame's main token is drawn from, or an end token was: [head rows] float32 in CPU
  // memory, entry i is token head_tokens()[i] of the slow model. May be overwritten by the next
  // step. Undefined before a prefill and after an error.
  at::Tensor next_logits() const;

  // Positions in the cache.
  int64_t kv_len() const;
  // The columns at those positions, in order: kv_len() * (1 + num_codebooks) integers.
  std::span<const int32_t> columns() const;
  DecoderStats stats() const;

  // Goes back to `position` (0 .. kv_len): what follows is as if later columns had never been, and
  // frames drawn from there on are bit-equal to those of a session that never went further, but
  // for the random stream, which goes on. Recomputes the last column kept; free for the position
  // right behind the prompt. Throws Error{kInvalidArgument}, Error{kCancelled}.
  void rewind(int64_t position, const CancelFlag& cancel);

  // A second session in the same state, with its own cache: both go on bit-equally.
  Decoder clone() const;

  // Everything the session holds, as bytes that load() takes in any process with the same model,
  // on any device and in any KV mode: columns, cache, random stream, history, outputs to be drawn.
  std::vector<std::byte> save() const;
  // Throws Error{kFormat} when the bytes are damaged, of another version, of another model or
  // precision, hold what no session can, or not what is asked of them; Error{kContextFull} when
  // they do not fit the capacity. Nothing has changed then.
  void load(std::span<const std::byte> saved, Loading loading = Loading::kAny);

  // Forgets everything but the sampling parameters and the memory.
  void reset();

  // Borrowed; null removes it.
  void set_observer(DecoderObserver* observer);

 private:
  struct State;
  class Batch;
  explicit Decoder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace remora::lm
