#include "lm/frame_sampler.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/concat.h"
#include "base/log.h"

namespace remora::lm {
namespace {

// Frames that the S1 family's repetition penalty looks back.
constexpr size_t kPenaltyFrames = 16;
// Codes that the S1 family may sample, and so the words of its draws.
constexpr int64_t kS1Codes = 1024;
// The draw that replaces a repeated token.
constexpr float kRetryTemperature = 1.0F;
constexpr float kRetryTopP = 0.9F;

}  // namespace

FrameSampler::FrameSampler(const DrawShape& shape) : shape_(shape) {}

void FrameSampler::set(const SamplingParams& params, uint64_t seed) {
  validate(params, shape_.family);
  params_ = params;
  stream_ = Mt19937(seed);
}

void FrameSampler::clear_history() {
  frames_ = 0;
  history_.clear();
}

FrameSampler::Saved FrameSampler::save() const {
  return {params_, stream_.save(), frames_, {history_.begin(), history_.end()}};
}

bool FrameSampler::restore(const Saved& saved) {
  const auto frame_size = static_cast<size_t>(1 + shape_.num_codebooks);
  for (const auto& frame : saved.history) {
    if (frame.size() != frame_size) return false;
  }
  if (saved.frames < static_cast<int64_t>(saved.history.size())) return false;
  if (!stream_.restore(saved.stream)) return false;
  params_ = saved.params;
  frames_ = saved.frames;
  history_.assign(saved.history.begin(), saved.history.end());
  return true;
}

Filter FrameSampler::filter() const {
  const bool limited = shape_.family == Family::kS2;
  return {params_.temperature, params_.top_p,
          limited ? params_.top_k : std::numeric_limits<int32_t>::max()};
}

int64_t FrameSampler::code_words() const {
  return shape_.family == Family::kS1 ? std::min(shape_.codebook_size, kS1Codes)
                                      : shape_.codebook_size;
}

int32_t FrameSampler::main_token(std::span<float> logits) {
  constexpr std::string_view kWhat = "slow model";
  if (shape_.family == Family::kS1) penalise_tokens(logits);
  int32_t entry = 0;
  if (params_.is_greedy()) {
    entry = Sampler::argmax(logits, kWhat);
  } else if (shape_.family == Family::kS2) {
    return s2_main_token(logits);
  } else {
    entry =
        sampler_.sample(logits, filter(), {shape_.vocab_size, shape_.head_tokens}, source(), kWhat);
  }
  return shape_.head_tokens[static_cast<size_t>(entry)];
}

int32_t FrameSampler::s2_main_token(std::span<const float> logits) {
  const DrawWords words{shape_.vocab_size, shape_.head_tokens};
  const auto token_of = [&](int32_t entry) {
    return shape_.head_tokens[static_cast<size_t>(entry)];
  };
  const int32_t first = token_of(sampler_.sample(logits, filter(), words, source(), "slow model"));
  if (!repeats_recent(first)) {
    source().skip(words.count);
    return first;
  }
  const Filter retry{kRetryTemperature, kRetryTopP, params_.top_k};
  const int32_t second =
      token_of(sampler_.sample(logits, retry, words, source(), "slow model, second draw"));
  if (log_enabled(LogLevel::kDebug)) {
    log(LogLevel::kDebug,
        concat("sampling: frame ", frames_, ": token ", first, " is one of the last ",
               params_.ras_window, ", drawn again: ", second));
  }
  return second;
}

bool FrameSampler::repeats_recent(int32_t token) const {
  if (token == shape_.end_token) return false;
  const auto window = static_cast<size_t>(params_.ras_window);
  const size_t first = history_.size() > window ? history_.size() - window : 0;
  for (size_t i = first; i < history_.size(); ++i) {
    if (history_[i].front() == token) return true;
  }
  return false;
}

void FrameSampler::penalise_tokens(std::span<float> logits) const {
  if (params_.repetition_penalty == 1 || frames_ == 0) return;
  std::vector<int32_t> tokens;
  if (shape_.s1_penalty_parity) {
    tokens = history_.empty() ? std::vector<int32_t>{0} : history_.front();
  } else {
    for (const auto& frame : history_) tokens.push_back(frame.front());
  }
  std::vector<int32_t> entries;
  for (const int32_t token : tokens) {
    const auto at = std::lower_bound(shape_.head_tokens.begin(), shape_.head_tokens.end(), token);
    if (at != shape_.head_tokens.end() && *at == token) {
      entries.push_back(static_cast<int32_t>(at - shape_.head_tokens.begin()));
    }
  }
  penalise(logits, std::move(entries), params_.repetition_penalty);
}

void FrameSampler::penalise_codes(int64_t codebook, std::span<float> logits) const {
  if (params_.repetition_penalty == 1 || frames_ == 0) return;
  std::vector<int32_t> codes;
  for (const auto& frame : history_) codes.push_back(frame[static_cast<size_t>(codebook + 1)]);
  // The reference's window starts out filled with code 0.
  if (shape_.s1_penalty_parity && history_.size() < kPenaltyFrames) codes.push_back(0);
  penalise(logits, std::move(codes), params_.repetition_penalty);
}

int32_t FrameSampler::code(int64_t codebook, std::span<float> logits) {
  constexpr std::string_view kWhat = "fast model";
  if (shape_.family == Family::kS1) penalise_codes(codebook, logits);
  if (params_.is_greedy()) return Sampler::argmax(logits, kWhat);
  return sampler_.sample(logits, filter(), {code_words(), {}}, source(), kWhat);
}

void FrameSampler::skip_codes() {
  if (!params_.is_greedy()) source().skip((shape_.num_codebooks - 1) * code_words());
}

void FrameSampler::remember(std::vector<int32_t> frame) {
  // The first frame of a turn does not count as recent in the reference. That is kept for the
  // S2 family, whose published parameters were found under it; the S1 family's history has other
  // mistakes there and is set right but for parity.
  const bool first_counts = shape_.family == Family::kS1 && !shape_.s1_penalty_parity;
  ++frames_;
  if (frames_ == 1 && !first_counts) return;
  history_.push_back(std::move(frame));
  const size_t limit =
      shape_.family == Family::kS1 ? kPenaltyFrames : static_cast<size_t>(params_.ras_window);
  while (history_.size() > limit) history_.pop_front();
}

}  // namespace remora::lm
