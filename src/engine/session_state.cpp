// What a session shows of its state: logits, and all of it as bytes.
//
// Layout of these, all little-endian:
//   8 bytes  "RMRSTATE", u32 version
//   conversation, progress, sampling, sound: in the order of the write functions below
//   u64      bytes of the decoder's own state, then that state (it carries the model's fingerprint)
//   u64      FNV-1a of everything before
#include <algorithm>

#include "engine/saved_values.h"
#include "engine/session.h"

namespace remora::engine {
namespace {

constexpr std::string_view kMagic = "RMRSTATE";
constexpr uint32_t kVersion = 2;

void check_envelope(std::span<const std::byte> bytes) {
  ByteReader in(bytes, "session state");
  const auto magic = in.bytes(std::min(bytes.size(), kMagic.size()));
  if (!std::ranges::equal(magic, std::as_bytes(std::span(kMagic)))) {
    throw Error(Status::kFormat, "session state: is none (give bytes from session save)");
  }
  if (const auto version = in.value<uint32_t>(); version != kVersion) {
    throw Error(Status::kFormat,
                concat("session state: has version ", version, ", this library reads ", kVersion));
  }
  const size_t body = bytes.size() - sizeof(uint64_t);
  ByteReader tail(bytes.subspan(std::max(body, in.position())), "session state");
  if (tail.value<uint64_t>() != checksum(bytes.first(body))) {
    throw Error(Status::kFormat, "session state: is damaged or cut (the checksum differs)");
  }
}

void write(ByteWriter& out, const Piece& piece) {
  out.text(piece.text);
  out.value(piece.text_end);
}

// Pieces follow one another in the caller's text, which is not longer than a tokenizer takes.
std::vector<Piece> read_pieces(ByteReader& in) {
  constexpr int64_t kLongest = 2 * static_cast<int64_t>(text::Tokenizer::kMaxBytes);
  std::vector<Piece> pieces;
  int64_t done = 0;
  for (auto left = in.value<uint64_t>(); left > 0; --left) {
    Piece piece;
    piece.text = read_utf8(in, "a piece's text");
    const auto end = static_cast<int64_t>(in.value<uint64_t>());
    done = checked_number(end, done, kLongest, "the end of a piece");
    piece.text_end = static_cast<uint64_t>(done);
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

// The counters that go on where they stood; times are those of this process and start anew.
template <typename Stats>
auto counters(Stats& stats) {
  return std::array{&stats.seed,    &stats.prompt_columns, &stats.reused_columns, &stats.frames,
                    &stats.samples, &stats.text_done,      &stats.pieces_done,    &stats.pieces};
}

void write(ByteWriter& out, const Sampling& sampling) {
  out.value(sampling.draw.temperature);
  out.value(sampling.draw.top_p);
  out.value(sampling.draw.top_k);
  out.value(sampling.draw.repetition_penalty);
  out.value(sampling.draw.ras_window);
  out.value<uint8_t>(sampling.seed.has_value());
  out.value(sampling.seed.value_or(0));
  out.value(sampling.max_frames);
  out.value(sampling.max_frames_per_byte);
}

}  // namespace

std::vector<float> Session::logits(int32_t codebook) const {
  if (codebook < 0 || codebook >= n_codebooks()) {
    throw Error(Status::kInvalidArgument,
                concat("codebook: is ", codebook, ", 0 to ", n_codebooks() - 1, " is needed"));
  }
  if (!logits_) {
    throw Error(Status::kInvalidState,
                "logits: this session keeps none; create it with REMORA_SESSION_KEEP_LOGITS in "
                "session_params.flags");
  }
  check_usable();
  if (codebook > 0) {
    const std::vector<float>& kept = logits_->of(codebook);
    if (!kept.empty()) return kept;
    throw Error(Status::kInvalidState, concat("logits: no frame has been made yet, so codebook ",
                                              codebook, " has none; call step first"));
  }
  const at::Tensor next = decoder_.next_logits();
  if (!next.defined()) {
    throw Error(Status::kInvalidState, "logits: no prompt yet; call prefill first");
  }
  const at::Tensor rows = next.contiguous();
  const float* first = rows.const_data_ptr<float>();
  return {first, first + rows.numel()};
}

std::vector<std::byte> Session::save() const {
  check_usable();
  ByteWriter out;
  out.bytes(std::as_bytes(std::span(kMagic)));
  out.value(kVersion);
  conversation_.save(out);
  out.value<uint8_t>(static_cast<uint8_t>(at_.phase));
  out.value<uint64_t>(at_.pieces.size());
  for (const Piece& piece : at_.pieces) write(out, piece);
  out.value<uint64_t>(at_.piece);
  out.value<uint8_t>(at_.from_tokens);
  out.value(at_.limit.frames);
  out.value<int32_t>(static_cast<int32_t>(at_.limit.reason));
  out.numbers<int32_t>(at_.piece_codes);
  out.value<int32_t>(static_cast<int32_t>(at_.stats.finish));
  for (const uint64_t* counter : counters(at_.stats)) out.value(*counter);
  write(out, sampling_);
  out.value<uint8_t>(speech_.has_value());
  if (speech_) speech_->save(out);
  const std::vector<std::byte> decoder = decoder_.save();
  out.numbers<std::byte>(decoder);
  out.value(checksum(out.written()));
  return out.take();
}

Session::Progress Session::read_progress(ByteReader& in) const {
  const lm::LmConfig& config = model_->lm_config();
  Progress progress;
  progress.phase = static_cast<Phase>(
      checked_number(in.value<uint8_t>(), 0, static_cast<int64_t>(Phase::kEnded), "the phase"));
  progress.pieces = read_pieces(in);
  progress.piece = in.value<uint64_t>();
  const size_t pieces = progress.pieces.size();
  if (progress.piece > pieces || (progress.phase == Phase::kSpeaking && progress.piece == pieces)) {
    refuse_state(concat("speaks piece ", progress.piece, " of ", pieces));
  }
  progress.from_tokens = in.value<uint8_t>() != 0;
  progress.limit.frames =
      checked_number(in.value<int64_t>(), 0, config.max_seq_len, "the bound of frames");
  progress.limit.reason = read_enum(in, Finish::kError, "the reason of the bound");
  progress.piece_codes =
      read_codes(in, config.num_codebooks, config.codebook_size, "the codes of the piece");
  progress.stats.finish = read_enum(in, Finish::kError, "the way it finished");
  for (uint64_t* counter : counters(progress.stats)) *counter = in.value<uint64_t>();
  return progress;
}

Sampling Session::read_sampling(ByteReader& in) const {
  Sampling sampling;
  sampling.draw.temperature = in.value<float>();
  sampling.draw.top_p = in.value<float>();
  sampling.draw.top_k = in.value<int32_t>();
  sampling.draw.repetition_penalty = in.value<float>();
  sampling.draw.ras_window = in.value<int32_t>();
  const bool has_seed = in.value<uint8_t>() != 0;
  sampling.seed = in.value<uint64_t>();
  if (!has_seed) sampling.seed.reset();
  sampling.max_frames = in.value<int32_t>();
  sampling.max_frames_per_byte = in.value<float>();
  as_saved([&] { check_sampling(sampling, model_->lm_config().family); });
  return sampling;
}

void Session::load(std::span<const std::byte> bytes) {
  check_envelope(bytes);
  ByteReader in(bytes.first(bytes.size() - sizeof(uint64_t)), "session state");
  in.bytes(kMagic.size() + sizeof kVersion);
  // All of it is read before anything changes.
  Conversation conversation(model_);
  conversation.load(in);
  Progress progress = read_progress(in);
  const Sampling sampling = read_sampling(in);
  const bool has_sound = in.value<uint8_t>() != 0;
  if (has_sound != speech_.has_value()) {
    throw Error(Status::kInvalidArgument,
                "session state: was saved by a model that differs in having a codec");
  }
  std::optional<SpeechStream> sound = speech_;
  if (sound) sound->load(in, n_codebooks(), model_->lm_config().codebook_size);
  if (sound && sound->finished() != (progress.phase == Phase::kEnded)) {
    refuse_state(
        "the sound's end is not the turn's");  // a reader would wait for ever, or stop early
  }
  const auto decoder = in.bytes(in.value<uint64_t>());
  if (in.remaining() > 0) refuse_state(concat("has ", in.remaining(), " bytes too many"));
  const bool speaking = progress.phase == Phase::kSpeaking;
  try {
    decoder_.load(decoder, speaking ? lm::Loading::kMidTurn : lm::Loading::kAny);
  } catch (const Error&) {
    throw;  // refused before anything changed
  } catch (...) {
    at_.phase = Phase::kFailed;  // memory or the device gave way between two layers
    at_.stats.finish = Finish::kError;
    throw;
  }

  if (logits_) logits_->forget();
  conversation_ = std::move(conversation);
  at_ = std::move(progress);
  sampling_ = sampling;
  speech_ = std::move(sound);
}

}  // namespace remora::engine
