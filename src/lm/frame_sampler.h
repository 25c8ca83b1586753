// The rules that turn logits into one frame: which draws, in which order, with which history.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "lm/config.h"
#include "lm/rng.h"
#include "lm/sampler.h"
#include "lm/sampling.h"

namespace remora::lm {

// The sizes that the draws depend on.
struct DrawShape {
  Family family = Family::kS2;
  int64_t vocab_size = 0;
  int64_t codebook_size = 0;
  std::span<const int32_t> head_tokens{};  // of the slow logits' entries, ascending
  int32_t end_token = 0;
  int32_t num_codebooks = 0;
  bool s1_penalty_parity = false;
};

// One session's sampling parameters, random stream and frame history. Not thread-safe.
//
// Draws of one frame: one over the vocabulary (the S2 family: two, of which the second is used only
// when the first repeats a recent token), then one over the code table for each further codebook.
class FrameSampler {
 public:
  explicit FrameSampler(const DrawShape& shape);

  // Throws Error{kInvalidArgument}; restarts the stream and keeps the history.
  void set(const SamplingParams& params, uint64_t seed);
  const SamplingParams& params() const { return params_; }
  const Mt19937& stream() const { return stream_; }

  // Numbers come from here in place of the stream: for reference data with given numbers. Borrowed;
  // null goes back to the stream.
  void use_source(UniformSource* source) { borrowed_ = source; }

  // For saving a session.
  struct Saved {
    SamplingParams params;
    std::array<uint32_t, Mt19937::kWords + 1> stream;
    int64_t frames = 0;
    std::vector<std::vector<int32_t>> history;
  };
  Saved save() const;
  // False, with nothing changed, when the numbers cannot be those of a sampler.
  bool restore(const Saved& saved);

  // Forgets the frames; the stream goes on.
  void clear_history();

  // The next main token from the slow logits (modified in place by the penalty).
  int32_t main_token(std::span<float> logits);
  // The code of codebook 1 .. num_codebooks - 1 (modified in place by the penalty).
  int32_t code(int64_t codebook, std::span<float> logits);
  // Moves the stream past the codes of a frame that has none, so that it stays in step.
  void skip_codes();
  // Adds a frame [main, code 0, ...] to the history.
  void remember(std::vector<int32_t> frame);

 private:
  UniformSource& source() { return borrowed_ != nullptr ? *borrowed_ : stream_; }
  int32_t s2_main_token(std::span<const float> logits);
  bool repeats_recent(int32_t token) const;
  void penalise_tokens(std::span<float> logits) const;
  void penalise_codes(int64_t codebook, std::span<float> logits) const;
  Filter filter() const;
  int64_t code_words() const;

  DrawShape shape_;
  SamplingParams params_;
  Mt19937 stream_{0};
  UniformSource* borrowed_ = nullptr;
  Sampler sampler_;
  int64_t frames_ = 0;                        // since the history was cleared
  std::deque<std::vector<int32_t>> history_;  // the recent ones that count, newest last
};

}  // namespace remora::lm
