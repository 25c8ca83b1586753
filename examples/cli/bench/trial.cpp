#include "bench/trial.h"

#include <algorithm>
#include <chrono>
#include <string>

#include "failure.h"
#include "interrupt.h"
#include "terminal.h"

namespace remora::cli {
namespace {

constexpr int64_t kTailColumns = 12;  // the prompt's end: what makes the model start to speak

std::vector<int32_t> whole_prompt(const LoadedModel& model, const std::string& text) {
  remora_prompt prompt;
  check(remora_prompt_init(&prompt, sizeof prompt));
  prompt.text = text.data();
  prompt.text_len = text.size();
  prompt.flags = REMORA_PROMPT_NO_SPLIT;
  size_t needed = 0;
  check(remora_model_prompt(model.model.get(), &prompt, nullptr, 0, &needed));
  std::vector<int32_t> tokens(needed);
  check(remora_model_prompt(model.model.get(), &prompt, tokens.data(), needed, &needed));
  return tokens;
}

}  // namespace

std::vector<int32_t> prompt_of_length(const LoadedModel& model, int64_t columns) {
  // A token takes at least a byte, and this text at most six bytes for a token.
  std::string text;
  while (static_cast<int64_t>(text.size()) < 8 * columns + 8) text += "Quietly ";
  const std::vector<int32_t> whole = whole_prompt(model, text);
  const int64_t rows = model.info.n_codebooks + 1;
  const int64_t length = static_cast<int64_t>(whole.size()) / rows;
  if (length < columns) {
    throw Failure(kError, "bench: cannot make a prompt of " + std::to_string(columns) + " columns");
  }
  const int64_t tail = std::min(kTailColumns, columns);
  const int64_t head = columns - tail;
  std::vector<int32_t> prompt;
  for (int64_t row = 0; row < rows; ++row) {
    const auto begin = whole.begin() + row * length;
    prompt.insert(prompt.end(), begin, begin + head);
    prompt.insert(prompt.end(), begin + length - tail, begin + length);
  }
  return prompt;
}

remora_sampling greedy_sampling() {
  remora_sampling sampling;
  check(remora_sampling_init(&sampling, sizeof sampling));
  sampling.temperature = 0;
  sampling.repetition_penalty = 1;
  sampling.max_frames_per_byte = 0;
  return sampling;
}

Trial::Trial(const LoadedModel& model, const remora_session_params& params,
             const remora_sampling& sampling)
    : model_(model), sampling_(sampling), frame_(static_cast<size_t>(model.info.n_codebooks)) {
  remora_session* session = nullptr;
  check(remora_session_create(model.model.get(), &params, &session));
  session_.reset(session);
  check(remora_session_set_sampling(session, &sampling_));
}

double Trial::prefill(const std::vector<int32_t>& prompt) {
  check(remora_session_reset(session_.get()));
  codes_.clear();
  prompt_ = prompt;
  return prefill_again();
}

double Trial::prefill_again() {
  if (Interrupt::raised()) throw Failure(kInterrupted, "interrupted");
  remora_prompt request;
  check(remora_prompt_init(&request, sizeof request));
  request.tokens = prompt_.data();
  request.n_tokens = prompt_.size() / (frame_.size() + 1);
  const auto start = std::chrono::steady_clock::now();
  check(remora_session_prefill(session_.get(), &request));
  return milliseconds_since(start);
}

void Trial::settle() {
  if (model_.info.device == REMORA_DEVICE_CPU) return;
  size_t needed = 0;
  // The state cannot be sized before it has been computed.
  check(remora_session_save(session_.get(), nullptr, 0, &needed));
}

std::optional<double> Trial::step() {
  if (Interrupt::raised()) throw Failure(kInterrupted, "interrupted");
  remora_frame frame = {};
  frame.struct_size = sizeof frame;
  frame.codes = frame_.data();
  frame.codes_capacity = frame_.size();
  const auto start = std::chrono::steady_clock::now();
  const remora_status status = remora_session_step(session_.get(), &frame);
  const double elapsed = milliseconds_since(start);
  if (status == REMORA_END) return std::nullopt;
  check(status);
  codes_.insert(codes_.end(), frame_.begin(), frame_.end());
  return elapsed;
}

double Trial::again() {
  prefill_again();
  const std::optional<double> elapsed = step();
  if (!elapsed) throw Failure(kError, "bench: the model ends without saying anything");
  return *elapsed;
}

double Trial::step_or_again() {
  const std::optional<double> elapsed = step();
  return elapsed ? *elapsed : again();
}

std::vector<float> Trial::logits() const {
  size_t needed = 0;
  check(remora_session_logits(session_.get(), 0, nullptr, 0, &needed));
  std::vector<float> logits(needed);
  check(remora_session_logits(session_.get(), 0, logits.data(), logits.size(), &needed));
  return logits;
}

double Trial::slow_step() {
  const int64_t position = remora_session_position(session_.get());
  const auto start = std::chrono::steady_clock::now();
  check(remora_session_rewind(session_.get(), position));
  return milliseconds_since(start);
}

void Trial::reseed() {
  ++sampling_.seed;
  check(remora_session_reset(session_.get()));
  check(remora_session_set_sampling(session_.get(), &sampling_));
}

remora_stats Trial::stats() const {
  remora_stats stats = {};
  stats.struct_size = sizeof stats;
  check(remora_session_stats(session_.get(), &stats));
  return stats;
}

}  // namespace remora::cli
