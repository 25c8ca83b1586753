#include "engine/voice.h"

#include "base/concat.h"
#include "base/error.h"

namespace remora::engine {

std::shared_ptr<const Voice> Voice::from_codes(const Model& model, std::span<const int32_t> codes,
                                               int64_t frames, std::string_view transcript) {
  const int32_t rows = model.n_codebooks();
  const int64_t size = model.lm_config().codebook_size;
  if (frames < 1) {
    throw Error(Status::kInvalidArgument,
                "voice: the reference has no frames; give at least a second of speech");
  }
  check_transcript(transcript);
  for (size_t i = 0; i < codes.size(); ++i) {
    if (codes[i] < 0 || codes[i] >= size) {
      const auto at = static_cast<int64_t>(i);
      throw Error(
          Status::kInvalidArgument,
          concat("voice: code ", codes[i], " of codebook ", at / frames, ", frame ", at % frames,
                 " is outside 0 to ", size - 1, "; were the codes made by this model's codec?"));
    }
  }
  text::Reference reference;
  reference.text = std::string(transcript);
  reference.codes.assign(codes.begin(), codes.end());
  reference.frames = frames;
  return std::shared_ptr<const Voice>(new Voice(std::move(reference), rows, size));
}

void Voice::check_transcript(std::string_view transcript) {
  if (transcript.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw Error(Status::kInvalidArgument,
                "voice: the transcript is empty; give the words that are spoken in the reference");
  }
}

void Voice::check_shape(const Model& model, int64_t n_codebooks, int64_t codebook_size) {
  if (model.n_codebooks() == n_codebooks && model.lm_config().codebook_size == codebook_size) {
    return;
  }
  throw Error(Status::kInvalidArgument,
              concat("voice: was made for ", n_codebooks, " codebooks of ", codebook_size,
                     " entries, the model has ", model.n_codebooks(), " of ",
                     model.lm_config().codebook_size, "; make it again with this model"));
}

}  // namespace remora::engine
