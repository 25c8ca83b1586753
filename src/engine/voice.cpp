#include "engine/voice.h"

#include <array>
#include <charconv>

#include "base/concat.h"
#include "base/error.h"
#include "base/log.h"
#include "text/utf8.h"

namespace remora::engine {
namespace {

// What no speech does: more than five bytes of text in a frame (over a hundred a second), or so
// many frames that a generation of that text would have been stopped, with the default bound, long
// before.
constexpr int64_t kMostBytesPerFrame = 5;
constexpr int64_t kMostFramesPerByte = 5;
constexpr int64_t kFramesForAnyText = 64;

void warn_of_other_words(int64_t frames, int64_t bytes) {
  if (bytes <= kMostBytesPerFrame * frames &&
      frames <= kFramesForAnyText + kMostFramesPerByte * bytes) {
    return;
  }
  log(LogLevel::kWarn, concat("voice: ", bytes, " bytes of transcript for ", frames,
                              " frames of sound; are these the words that are spoken? Others give "
                              "unclear speech"));
}

// 16 hexadecimal digits at most.
std::string hex(uint64_t value) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, 16).ptr;
  return {digits.data(), end};
}

}  // namespace

CodeTables CodeTables::of(const Model& model) {
  return {model.n_codebooks(), model.lm_config().codebook_size, model.codec_fingerprint()};
}

void CodeTables::check_fit(const Model& model) const {
  const CodeTables other = of(model);
  if (codebooks != other.codebooks || entries != other.entries) {
    throw Error(Status::kInvalidArgument,
                concat("voice: was made for ", codebooks, " codebooks of ", entries,
                       " entries, the model has ", other.codebooks, " of ", other.entries,
                       "; make it again with this model"));
  }
  if (codec && other.codec && *codec != *other.codec) {
    throw Error(Status::kInvalidArgument,
                concat("voice: was made with the codec ", hex(*codec), ", the model has the codec ",
                       hex(*other.codec), "; make it again with this model's codec"));
  }
}

std::shared_ptr<const Voice> Voice::from_codes(const CodeTables& tables,
                                               std::span<const int32_t> codes, int64_t frames,
                                               std::string_view transcript) {
  if (frames < 1) {
    throw Error(Status::kInvalidArgument,
                "voice: the reference has no frames; give at least a second of speech");
  }
  check_transcript(transcript);
  warn_of_other_words(frames, static_cast<int64_t>(transcript.size()));
  for (size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] < 0 || codes[i] >= tables.entries) {
      const auto at = static_cast<int64_t>(i);
      throw Error(Status::kInvalidArgument,
                  concat("voice: code ", codes[i], " of codebook ", at / frames, ", frame ",
                         at % frames, " is outside 0 to ", tables.entries - 1,
                         "; were the codes made by this model's codec?"));
    }
  }
  text::Reference reference;
  reference.text = std::string(transcript);
  reference.codes.assign(codes.begin(), codes.end());
  reference.frames = frames;
  return std::shared_ptr<const Voice>(new Voice(std::move(reference), tables));
}

void Voice::check_transcript(std::string_view transcript) {
  text::require_utf8(transcript, text::Nul::kAllowed, "voice: the transcript");
  if (transcript.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw Error(Status::kInvalidArgument,
                "voice: the transcript is empty; give the words that are spoken in the reference");
  }
}

}  // namespace remora::engine
