// One request from prompt to sound, with the figures a report needs.
#pragma once

#include <remora/remora.h>

#include <chrono>
#include <string>
#include <vector>

#include "audio_output.h"
#include "interrupt.h"
#include "model_loading.h"
#include "npy.h"
#include "options.h"
#include "terminal.h"

namespace remora::cli {

// One piece of the text.
struct Segment {
  std::string text;  // "" where its end is not known: it was not finished
  uint64_t frames = 0;
  remora_finish finish = REMORA_FINISH_NONE;
};

struct SpeechResult {
  IntMatrix codes;  // [n_codebooks, frames]
  std::vector<Segment> segments;
  remora_stats stats = {};
  uint64_t samples = 0;
  double first_audio_ms = 0;  // from the request to the first samples; 0: there were none
  double total_ms = 0;        // from the request to the last sample
  bool interrupted = false;
};

class Speech {
 public:
  Speech(const LoadedModel& model, const SessionOptions& session, const SamplingOptions& sampling,
         Interrupt& interrupt);

  // `stream`: decode and deliver pieces while frames come; else all at once after the last one.
  // `output` null: codes only. Errors throw Failure; Ctrl-C ends it with what was made so far.
  SpeechResult run(const remora_prompt& prompt, const std::string& text, bool stream,
                   AudioOutput* output);

 private:
  bool step(SpeechResult& result);
  void count_frame(SpeechResult& result, const std::string& text);
  void close_segments(SpeechResult& result, const std::string& text, const remora_stats& now);
  IntMatrix codes_by_row() const;
  void pump(SpeechResult& result, AudioOutput& output);
  void note_first_audio(SpeechResult& result) const;
  remora_stats stats() const;

  const LoadedModel& model_;
  SessionPtr session_;
  Interrupt& interrupt_;
  Progress progress_;
  std::chrono::steady_clock::time_point start_;
  std::vector<int32_t> frame_;       // codes of the newest frame
  std::vector<int32_t> all_frames_;  // frame by frame: [frames, n_codebooks]
  uint64_t segment_frames_ = 0;
  uint64_t text_closed_ = 0;  // bytes of the text in closed segments
  remora_finish worst_finish_ = REMORA_FINISH_NONE;
};

// Codes to sound in one go.
void decode_whole(const LoadedModel& model, const IntMatrix& codes, AudioOutput& output);

}  // namespace remora::cli
