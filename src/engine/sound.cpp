#include "engine/sound.h"

#include <ATen/ops/from_blob.h>

#include "base/concat.h"
#include "base/error.h"
#include "base/log.h"
#include "io/reference_audio.h"
#include "io/resample.h"

namespace remora::engine {
namespace {

// Longer references fill the context and are rarely meant.
constexpr double kLongReference = 90;  // seconds

// Nothing is refused for its length or loudness here.
constexpr io::ReferenceLimits kAnySound{0, 1e9, 0};

int32_t codec_rate(const Model& model) {
  const auto codec = model.codec();
  if (!codec->has_encoder()) {
    throw Error(Status::kUnsupported,
                "model: its codec was loaded without the encoder, so sound cannot become codes; "
                "load it without NO_ENCODER");
  }
  return static_cast<int32_t>(codec->config().sample_rate);
}

// [n_codebooks, frames] int32
at::Tensor codes_of(const Model& model, const io::ReferenceAudio& audio, const CancelFlag* cancel) {
  const at::Tensor samples = at::from_blob(const_cast<float*>(audio.samples.data()),
                                           {static_cast<int64_t>(audio.samples.size())},
                                           at::TensorOptions().dtype(at::kFloat));
  return model.codec()->encode(samples, model.n_codebooks() - 1, cancel).contiguous();
}

std::shared_ptr<const Voice> voice_of(const Model& model, const io::ReferenceAudio& audio,
                                      std::string_view name, std::string_view transcript,
                                      const CancelFlag* cancel) {
  Voice::check_transcript(transcript);
  if (audio.seconds > kLongReference) {
    log(LogLevel::kWarn, concat(name, ": ", static_cast<int64_t>(audio.seconds),
                                " s of reference; 10 to 30 s are enough and leave room for text"));
  }
  if (audio.bad_samples > 0) {
    log(LogLevel::kWarn,
        concat(name, ": ", audio.bad_samples, " samples were NaN or infinite and count as 0"));
  }
  if (!audio.damage.empty()) log(LogLevel::kWarn, concat(name, ": ", audio.damage));
  const at::Tensor codes = codes_of(model, audio, cancel);
  return Voice::from_codes(model,
                           {codes.const_data_ptr<int32_t>(), static_cast<size_t>(codes.numel())},
                           codes.size(1), transcript);
}

}  // namespace

at::Tensor encode(const Model& model, const Sound& sound, const CancelFlag* cancel) {
  return codes_of(model,
                  io::reference_from_pcm(sound.interleaved, sound.channels, sound.rate,
                                         codec_rate(model), kAnySound, cancel),
                  cancel);
}

size_t encoded_size(const Model& model, size_t frames, int32_t rate) {
  if (frames == 0) {
    throw Error(Status::kInvalidArgument, "sound: has no samples; is it the right recording?");
  }
  const uint64_t samples = io::Resampler(rate, codec_rate(model)).output_count(frames);
  const auto frame_length = static_cast<uint64_t>(model.codec()->config().frame_length());
  return static_cast<size_t>((samples + frame_length - 1) / frame_length) *
         static_cast<size_t>(model.n_codebooks());
}

std::shared_ptr<const Voice> voice_from_sound(const Model& model, const Sound& sound,
                                              std::string_view transcript,
                                              const CancelFlag* cancel) {
  const int32_t rate = codec_rate(model);
  Voice::check_transcript(transcript);
  return voice_of(
      model,
      io::reference_from_pcm(sound.interleaved, sound.channels, sound.rate, rate, {}, cancel),
      "voice", transcript, cancel);
}

std::shared_ptr<const Voice> voice_from_file(const Model& model, const std::string& utf8_path,
                                             std::string_view transcript,
                                             const CancelFlag* cancel) {
  const int32_t rate = codec_rate(model);
  Voice::check_transcript(transcript);
  return voice_of(model, io::read_reference_audio(io::open_file(utf8_path), rate, {}, cancel),
                  utf8_path, transcript, cancel);
}

}  // namespace remora::engine
