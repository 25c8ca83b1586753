#include "speech.h"

#include <span>

#include "failure.h"

namespace remora::cli {
namespace {

constexpr size_t kPumpSamples = 1 << 14;

}  // namespace

Speech::Speech(const LoadedModel& model, const SessionOptions& session,
               const SamplingOptions& sampling, Interrupt& interrupt)
    : model_(model), interrupt_(interrupt), frame_(static_cast<size_t>(model.info.n_codebooks)) {
  const remora_session_params params = session.to_library();
  remora_session* created = nullptr;
  check(remora_session_create(model.model.get(), &params, &created));
  session_.reset(created);
  const remora_sampling choice = sampling.to_library();
  check(remora_session_set_sampling(session_.get(), &choice));
}

SpeechResult Speech::run(const remora_prompt& prompt, const std::string& text, bool stream,
                         AudioOutput* output) {
  const Interrupt::Scope scope(interrupt_, session_.get());
  SpeechResult result;
  start_ = std::chrono::steady_clock::now();
  check(remora_session_prefill(session_.get(), &prompt));
  while (step(result)) {
    count_frame(result, text);
    if (stream && output != nullptr) pump(result, *output);
  }
  result.stats = stats();
  close_segments(result, text, result.stats);
  if (segment_frames_ > 0) {
    result.segments.push_back({"", segment_frames_, REMORA_FINISH_CANCELLED});
  }

  result.codes = codes_by_row();
  if (output != nullptr) {
    if (!stream) {
      decode_whole(model_, result.codes, *output);
      if (output->samples() > 0) note_first_audio(result);
    } else if (!result.interrupted) {
      pump(result, *output);
    }
    result.samples = output->samples();
  }
  result.total_ms = milliseconds_since(start_);
  progress_.clear();
  if (!result.interrupted) result.stats = stats();  // the sound's figures, too
  return result;
}

// [n_codebooks, frames]
IntMatrix Speech::codes_by_row() const {
  const size_t rows = frame_.size();
  const size_t frames = all_frames_.size() / rows;
  IntMatrix codes{static_cast<int64_t>(rows), static_cast<int64_t>(frames), {}};
  codes.values.reserve(all_frames_.size());
  for (size_t row = 0; row < rows; ++row) {
    for (size_t t = 0; t < frames; ++t) codes.values.push_back(all_frames_[t * rows + row]);
  }
  return codes;
}

// False when there are no more frames.
bool Speech::step(SpeechResult& result) {
  remora_frame frame = {};
  frame.struct_size = sizeof frame;
  frame.codes = frame_.data();
  frame.codes_capacity = frame_.size();
  const remora_status status = remora_session_step(session_.get(), &frame);
  if (status == REMORA_E_CANCELLED) result.interrupted = true;
  if (status == REMORA_END || result.interrupted) return false;
  check(status);
  all_frames_.insert(all_frames_.end(), frame_.begin(), frame_.end());
  return true;
}

void Speech::count_frame(SpeechResult& result, const std::string& text) {
  // The step that ends a piece goes on to the next by itself: its frame belongs there.
  const remora_stats now = stats();
  close_segments(result, text, now);
  ++segment_frames_;
  const double frame_seconds =
      model_.info.sample_rate > 0
          ? static_cast<double>(model_.info.samples_per_frame) / model_.info.sample_rate
          : 0;
  progress_.show("speaking: " + std::to_string(now.frames) + " frames, " +
                 fixed(static_cast<double>(now.frames) * frame_seconds, 1) + " s");
}

// Brings the list of finished pieces up to date.
void Speech::close_segments(SpeechResult& result, const std::string& text,
                            const remora_stats& now) {
  while (result.segments.size() < now.pieces_done) {
    // The library reports the worst end so far: a piece behind a cut one may have ended either way.
    const bool known = now.finish > worst_finish_ || now.finish <= REMORA_FINISH_END_TOKEN;
    Segment segment{"", segment_frames_, known ? now.finish : REMORA_FINISH_NONE};
    if (now.text_done > text_closed_ && now.text_done <= text.size()) {
      segment.text = text.substr(text_closed_, now.text_done - text_closed_);
      text_closed_ = now.text_done;
    }
    worst_finish_ = now.finish;
    segment_frames_ = 0;
    result.segments.push_back(std::move(segment));
  }
}

// Hands over all samples that are ready.
void Speech::pump(SpeechResult& result, AudioOutput& output) {
  std::vector<float> pcm(kPumpSamples);
  for (;;) {
    size_t n = 0;
    const remora_status status =
        remora_session_read_pcm(session_.get(), pcm.data(), pcm.size(), &n);
    if (status == REMORA_E_CANCELLED) {
      result.interrupted = true;
      return;
    }
    check(status);
    if (n > 0) {
      note_first_audio(result);
      output.write(std::span(pcm).first(n));
    }
    if (n == 0 || status == REMORA_END) return;
  }
}

void Speech::note_first_audio(SpeechResult& result) const {
  if (result.first_audio_ms == 0) result.first_audio_ms = milliseconds_since(start_);
}

remora_stats Speech::stats() const {
  remora_stats stats = {};
  stats.struct_size = sizeof stats;
  check(remora_session_stats(session_.get(), &stats));
  return stats;
}

void decode_whole(const LoadedModel& model, const IntMatrix& codes, AudioOutput& output) {
  if (codes.columns == 0) return;
  const auto frames = static_cast<size_t>(codes.columns);
  std::vector<float> pcm(frames * static_cast<size_t>(model.info.samples_per_frame));
  size_t needed = 0;
  check(remora_codec_decode(model.model.get(), codes.values.data(), frames, pcm.data(), pcm.size(),
                            &needed));
  output.write(pcm);
}

}  // namespace remora::cli
