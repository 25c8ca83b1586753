// One speaker at work: prompt in, frames of codes and sound out.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/cancel.h"
#include "base/live_count.h"
#include "engine/conversation.h"
#include "engine/frame_logits.h"
#include "engine/model.h"
#include "engine/script.h"
#include "engine/speech_stream.h"
#include "engine/voice.h"
#include "lm/decoder.h"

namespace remora::engine {

// Values equal REMORA_FINISH_* in remora.h.
enum class Finish : int32_t {
  kNone = 0,
  kEndToken = 1,
  kLength = 2,
  kCapacity = 3,
  kCancelled = 4,
  kError = 5,
};

struct SessionOptions {
  lm::DecoderOptions decoder;
  int64_t chunk_first = 4;   // frames of the first decoded piece
  int64_t chunk_next = 12;   // and of the largest
  bool keep_logits = false;  // for logits()
};

struct Sampling {
  lm::SamplingParams draw;
  std::optional<uint64_t> seed = 42;  // empty: drawn anew for each prompt
  int32_t max_frames = 0;             // frames of one piece; 0 = no bound
  float max_frames_per_byte = 5.0F;   // bound tied to the text; 0 = none
};

struct Request {
  std::string_view text;                             // UTF-8, unless `tokens` is given
  std::vector<std::shared_ptr<const Voice>> voices;  // speaker i is voices[i]
  std::optional<text::Columns> tokens;               // a whole prompt matrix in place of text
  bool keep_context = false;                         // earlier turns of the session stay
  ScriptOptions script;
};

struct SessionStats {
  lm::DecoderStats decoder;
  Finish finish = Finish::kNone;
  int64_t kv_len = 0;
  uint64_t seed = 0;
  uint64_t prompt_columns = 0;
  uint64_t reused_columns = 0;
  uint64_t frames = 0;
  uint64_t samples = 0;
  uint64_t text_done = 0;
  uint64_t pieces_done = 0;
  uint64_t pieces = 0;
  uint64_t prefill_ns = 0;
  uint64_t first_audio_ns = 0;
  uint64_t step_ns = 0;
  uint64_t codec_ns = 0;
};

// The columns that prefill would feed for the first piece in a fresh session.
text::Columns first_prompt(const std::shared_ptr<const Model>& model, const Request& request);

// Samples of one decoded piece and whether it is the last; returns true to stop.
using AudioSink = std::function<bool(std::span<const float> pcm, bool last)>;

// Not thread-safe except for cancel(). After an Error other than those thrown before any work
// (kInvalidArgument, kContextFull in prefill) only reset() and stats() are valid.
class Session : public LiveCount<Session> {
 public:
  Session(std::shared_ptr<const Model> model, const SessionOptions& options);

  // Throws Error{kInvalidArgument} naming the field, Error{kUnsupported} for a repetition penalty
  // on a family without one.
  void set_sampling(const Sampling& sampling);

  // First-use work on a short prompt; afterwards as after reset().
  void warmup();
  void prefill(const Request& request);
  // The next frame's codes (valid until the next call), or nothing when the generation is over.
  std::optional<std::span<const int32_t>> step();
  // One session's part in step_together().
  struct Turn {
    Session* session = nullptr;
    std::optional<std::span<const int32_t>> codes{};  // out: what step() would have returned
    std::exception_ptr error{};                       // out: or thrown
  };
  static constexpr size_t kMaxTogether = lm::Decoder::kMaxTogether;
  // step() of several sessions of one model (1 .. kMaxTogether, each once) over one read of the
  // weights: see lm::Decoder::step_together().
  static void step_together(std::span<Turn> turns);
  // What the next frame's code 0 is drawn from (codebook 0), or that code of the last frame was.
  // Throws Error{kInvalidArgument} for no codebook, Error{kInvalidState} when there are none.
  std::vector<float> logits(int32_t codebook) const;
  // Moves samples out; sets `over` when the generation has ended and everything was read.
  size_t read_pcm(std::span<float> dst, bool& over);
  void generate(const Request& request, const AudioSink& sink);

  // Forgets the columns from `position` on and ends a generation that was going. Throws
  // Error{kInvalidArgument} outside 0 to position().
  void rewind(int64_t position);
  // An independent session in the same state.
  std::unique_ptr<Session> clone() const;
  // Everything, as bytes that load() of a session over the same model takes. load() throws
  // Error{kFormat}, Error{kInvalidArgument} or Error{kContextFull} and has then changed nothing.
  std::vector<std::byte> save() const;
  void load(std::span<const std::byte> bytes);

  // From any thread.
  void cancel() noexcept { cancel_.raise(); }
  void reset();

  int64_t position() const { return decoder_.kv_len(); }
  const Model& model() const { return *model_; }
  int64_t n_codebooks() const { return model_->n_codebooks(); }
  SessionStats stats() const;

 private:
  enum class Phase : uint8_t { kIdle, kSpeaking, kEnded, kFailed };
  struct PieceLimit {
    int64_t frames = 0;
    Finish reason = Finish::kNone;
  };
  // Where the request stands; what a clone copies and save() writes, beside decoder and sound.
  struct Progress {
    Phase phase = Phase::kIdle;
    std::vector<Piece> pieces;
    size_t piece = 0;                  // index of the piece being spoken
    bool from_tokens = false;          // the prompt came as columns, its words are not known
    PieceLimit limit;                  // of that piece
    std::vector<int32_t> piece_codes;  // frame by frame
    uint64_t request_start_ns = 0;
    SessionStats stats;
  };

  Session(const Session& other, lm::Decoder decoder);
  void forget();
  template <typename Body>
  auto working(Body&& body);
  void restart_random_stream();
  void check_usable() const;
  void enter(std::string_view doing);
  void warn_about(const Request& request) const;
  SpeechStream& speech();
  PieceLimit piece_limit(int64_t prompt_columns, size_t text_bytes) const;
  void begin_piece(const text::Columns& prompt, const Piece& piece, lm::Reuse reuse);
  void begin_step();
  // False when the generation is over; may begin the next piece.
  bool wants_frame();
  // The codes of a drawn frame, or nothing where it ended its piece. start_ns: when its step began.
  std::optional<std::span<const int32_t>> take(const lm::Frame& frame, uint64_t start_ns);
  void finish_piece(Finish reason);
  void next_piece();
  void deliver(const AudioSink& sink);
  void count_samples(size_t samples);
  static void check_sampling(const Sampling& sampling, lm::Family family);
  Progress read_progress(ByteReader& in) const;
  Sampling read_sampling(ByteReader& in) const;

  std::shared_ptr<const Model> model_;
  SessionOptions options_;
  lm::Decoder decoder_;
  std::unique_ptr<FrameLogits> logits_;  // where the options ask; the decoder borrows it
  int64_t capacity_limit_;               // columns the session may ever hold
  std::optional<SpeechStream> speech_;
  Sampling sampling_;
  CancelFlag cancel_;
  Conversation conversation_;
  Progress at_;
};

}  // namespace remora::engine
