#include "engine/session.h"

#include <algorithm>
#include <random>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "base/log.h"
#include "engine/fault_point.h"
#include "engine/session_work.h"
#include "text/tags.h"

namespace remora::engine {
namespace {

int64_t capacity_limit(const Model& model, const SessionOptions& options) {
  return options.decoder.capacity > 0 ? options.decoder.capacity : model.lm_config().max_seq_len;
}

}  // namespace

Session::Session(std::shared_ptr<const Model> model, const SessionOptions& options)
    : model_(std::move(model)),
      options_(options),
      decoder_(model_->language_model(), options.decoder),
      capacity_limit_(capacity_limit(*model_, options)),
      conversation_(model_) {
  if (options.chunk_first < 1 || options.chunk_next < options.chunk_first) {
    throw Error(
        Status::kInvalidArgument,
        concat("session_params: codec_chunk_first ", options.chunk_first, " and codec_chunk_next ",
               options.chunk_next, "; at least 1 and no smaller than the first are needed"));
  }
  if (model_->has_codec()) {
    speech_.emplace(model_->codec(), options.chunk_first, options.chunk_next);
  }
  if (options.keep_logits) {
    logits_ = std::make_unique<FrameLogits>(n_codebooks());
    decoder_.set_observer(logits_.get());
  }
  Sampling defaults;
  defaults.draw.repetition_penalty = 0;
  set_sampling(defaults);
}

void Session::set_sampling(const Sampling& sampling) {
  Sampling checked = sampling;
  const lm::Family family = model_->lm_config().family;
  float& penalty = checked.draw.repetition_penalty;
  if (family == lm::Family::kS2 && penalty != 0 && penalty != 1) {
    throw Error(Status::kUnsupported,
                concat("sampling.repetition_penalty: is ", penalty,
                       ", but S2-Pro has none; use 0 or 1, and ras_window against loops"));
  }
  // The reference's default for the family that was tuned with it.
  if (penalty == 0) penalty = family == lm::Family::kS1 ? 1.1F : 1.0F;
  check_sampling(checked, family);
  sampling_ = checked;
  restart_random_stream();
}

void Session::check_sampling(const Sampling& checked, lm::Family family) {
  if (checked.max_frames < 0) {
    throw Error(Status::kInvalidArgument,
                concat("sampling.max_frames: is ", checked.max_frames, ", 0 or more is needed"));
  }
  if (!(checked.max_frames_per_byte >= 0 && checked.max_frames_per_byte <= 1e6F)) {
    throw Error(Status::kInvalidArgument,
                concat("sampling.max_frames_per_byte: is ", checked.max_frames_per_byte,
                       ", 0 to 1000000 is needed"));
  }
  lm::validate(checked.draw, family);
}

void Session::restart_random_stream() {
  uint64_t seed = 0;
  if (sampling_.seed) {
    seed = *sampling_.seed;
  } else {
    std::random_device device;
    seed = uint64_t{device()} << 32 | device();
  }
  decoder_.set_sampling(sampling_.draw, seed);
  at_.stats.seed = seed;
}

void Session::check_usable() const {
  if (at_.phase == Phase::kFailed) {
    throw Error(Status::kInvalidState,
                "session: stopped by an earlier error or cancel; call reset first");
  }
}

// A cancel holds for the next call as well, however little that one has to do.
void Session::enter(std::string_view doing) {
  check_usable();
  working([&] { cancel_.check(doing); });
}

SpeechStream& Session::speech() {
  if (!speech_) {
    throw Error(Status::kUnsupported,
                "model: has no codec, so there is no sound; load one with the codec's folder");
  }
  return *speech_;
}

Session::PieceLimit Session::piece_limit(int64_t prompt_columns, size_t text_bytes) const {
  PieceLimit limit{capacity_limit_ - prompt_columns, Finish::kCapacity};
  const int64_t wanted = sampling_.max_frames;
  if (limit.frames < std::max<int64_t>(wanted, 1)) {
    throw Error(Status::kContextFull,
                concat("session: the prompt has ", prompt_columns, " columns and ",
                       std::max<int64_t>(wanted, 1), " frames are wanted, but the capacity is ",
                       capacity_limit_, "; shorten the text or voice, or raise the capacity"));
  }
  if (wanted > 0) limit = {wanted, Finish::kLength};
  if (sampling_.max_frames_per_byte > 0 && text_bytes > 0) {
    const double bound = kFramesForAnyText + static_cast<double>(sampling_.max_frames_per_byte) *
                                                 static_cast<double>(text_bytes);
    if (bound < static_cast<double>(limit.frames)) {
      limit = {static_cast<int64_t>(bound), Finish::kLength};
    }
  }
  return limit;
}

// Marks in the text that will not act as their writer may think.
void Session::warn_about(const Request& request) const {
  if (!log_enabled(LogLevel::kWarn) || request.script.control == text::ControlTokens::kAllowed) {
    return;
  }
  for (const std::string& line : text::text_warnings(request.text, model_->tokenizer())) {
    log(LogLevel::kWarn, line);
  }
}

void Session::prefill(const Request& request) {
  enter("prefill");
  // First everything that can be refused without having changed anything.
  std::vector<Piece> pieces;
  Conversation conversation = conversation_;
  conversation.begin(request.voices, request.keep_context, request.script.control);
  text::Columns prompt;
  if (request.tokens) {
    pieces = {Piece{}};
    // What such a prompt says is not known: nothing can go on behind it.
    conversation.clear();
    prompt = *request.tokens;
  } else {
    pieces = plan_pieces(request.text, request.script);
    check_speakable(pieces);
    warn_about(request);
    prompt = conversation.with_piece(pieces.front().text);
  }
  piece_limit(static_cast<int64_t>(prompt.count()), pieces.front().text.size());

  working([&] {
    at_.request_start_ns = now_ns();
    const uint64_t seed = at_.stats.seed;
    at_.stats = {};
    at_.stats.seed = seed;
    at_.stats.pieces = pieces.size();
    if (logits_) logits_->forget();
    if (!request.keep_context) restart_random_stream();
    if (speech_) speech_->reset();
    conversation_ = std::move(conversation);
    at_.pieces = std::move(pieces);
    at_.piece = 0;
    at_.from_tokens = request.tokens.has_value();
    begin_piece(prompt, at_.pieces.front(),
                request.keep_context ? lm::Reuse::kAll : lm::Reuse::kExact);
  });
}

void Session::warmup() {
  check_usable();
  Request request;
  request.text = "Hello.";
  prefill(request);
  step();
  if (speech_) {
    working([&] {
      speech_->finish();
      speech_->decode_ready(cancel_);
    });
  }
  forget();
}

void Session::begin_piece(const text::Columns& prompt, const Piece& piece, lm::Reuse reuse) {
  const Stopwatch watch(at_.stats.prefill_ns);
  at_.limit = piece_limit(static_cast<int64_t>(prompt.count()), piece.text.size());
  at_.piece_codes.clear();
  at_.stats.prompt_columns = static_cast<uint64_t>(prompt.count());
  at_.stats.reused_columns = static_cast<uint64_t>(decoder_.prefill(prompt.values, cancel_, reuse));
  fault_point(Work::kPrefill);
  at_.phase = Phase::kSpeaking;
}

void Session::count_samples(size_t samples) {
  if (samples > 0 && at_.stats.samples == 0)
    at_.stats.first_audio_ns = now_ns() - at_.request_start_ns;
  at_.stats.samples += samples;
}

size_t Session::read_pcm(std::span<float> dst, bool& over) {
  enter("reading sound");
  SpeechStream& stream = speech();
  return working([&] {
    const size_t n = stream.read(dst, cancel_);
    count_samples(n);
    over = n == 0 && at_.phase == Phase::kEnded && stream.drained();
    return n;
  });
}

// Hands every piece that can be decoded now to the sink.
void Session::deliver(const AudioSink& sink) {
  SpeechStream& stream = speech();
  while (stream.decode_ready(cancel_)) {
    const std::span<const float> pcm = stream.ready();
    count_samples(pcm.size());
    stream.consume(pcm.size());
    if (sink(pcm, stream.drained())) {
      throw Error(Status::kCancelled, "generate: stopped by the audio callback");
    }
  }
}

void Session::generate(const Request& request, const AudioSink& sink) {
  speech();
  prefill(request);
  while (step().has_value()) working([&] { deliver(sink); });
  working([&] {
    const bool had_audio = at_.stats.frames > 0;
    const bool delivered_last = speech_->drained();
    deliver(sink);
    // The last piece went out before the end was known, or there never was one: say so.
    if ((delivered_last || !had_audio) && sink({}, true)) {
      throw Error(Status::kCancelled, "generate: stopped by the audio callback");
    }
  });
}

void Session::reset() {
  cancel_.clear();
  forget();
}

void Session::forget() {
  at_.phase = Phase::kFailed;  // until all of it is done: a reset may run out of memory as well
  if (logits_) logits_->forget();
  decoder_.reset();
  if (speech_) speech_->reset();
  conversation_.clear();
  at_ = {};
  restart_random_stream();
}

void Session::rewind(int64_t position) {
  enter("rewind");
  if (position < 0 || position > this->position()) {
    throw Error(Status::kInvalidArgument,
                concat("position: is ", position, ", 0 to ", this->position(), " is needed"));
  }
  working([&] { decoder_.rewind(position, cancel_); });
  if (logits_) logits_->forget();
  // The words behind the columns that are left are not known any more.
  conversation_.clear();
  at_.phase = Phase::kIdle;
  if (speech_) speech_->reset();
}

std::unique_ptr<Session> Session::clone() const {
  return std::unique_ptr<Session>(new Session(*this, decoder_.clone()));
}

Session::Session(const Session& other, lm::Decoder decoder)
    : model_(other.model_),
      options_(other.options_),
      decoder_(std::move(decoder)),
      capacity_limit_(other.capacity_limit_),
      speech_(other.speech_),
      sampling_(other.sampling_),
      conversation_(other.conversation_),
      at_(other.at_) {
  if (!other.logits_) return;
  logits_ = std::make_unique<FrameLogits>(*other.logits_);
  decoder_.set_observer(logits_.get());
}

text::Columns first_prompt(const std::shared_ptr<const Model>& model, const Request& request) {
  if (request.tokens) return *request.tokens;
  Conversation conversation(model);
  conversation.begin(request.voices, false, request.script.control);
  const std::vector<Piece> pieces = plan_pieces(request.text, request.script);
  return conversation.with_piece(pieces.empty() ? request.text : pieces.front().text);
}

SessionStats Session::stats() const {
  SessionStats out = at_.stats;
  out.decoder = decoder_.stats();
  out.kv_len = decoder_.kv_len();
  if (speech_) out.codec_ns = speech_->decode_ns();
  return out;
}

}  // namespace remora::engine
