#include "codec/codec.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "codec/fingerprint.h"
#include "codec/names.h"
#include "io/checkpoint.h"
#include "io/json.h"

namespace remora::codec {
namespace {

constexpr uint64_t kMostConfigBytes = 1 << 20;
constexpr std::array<std::string_view, 2> kWeightFiles = {"codec.safetensors", "codec.pth"};

CodecConfig find_config(const io::FileSet& files) {
  if (files.contains("codec.json")) {
    return parse_codec_config(io::JsonObject(*files.open("codec.json"), kMostConfigBytes));
  }
  if (files.contains("config.json")) {
    const io::JsonObject json(*files.open("config.json"), kMostConfigBytes);
    // A language model's config.json has neither key.
    if (json.has("decoder_rates") || json.has("quantizer")) return parse_codec_config(json);
  }
  return {};
}

io::StateDict find_weights(const io::FileSet& files) {
  for (const std::string_view name : kWeightFiles) {
    if (files.contains(name)) return io::read_tensor_file(files, name);
  }
  throw Error(Status::kIo, concat(files.describe(),
                                  ": holds neither codec.safetensors nor codec.pth; the codec's "
                                  "weights belong beside the model's"));
}

}  // namespace

bool has_codec(const io::FileSet& files) {
  return std::any_of(kWeightFiles.begin(), kWeightFiles.end(),
                     [&](std::string_view name) { return files.contains(name); });
}

std::shared_ptr<const Codec> Codec::load(const io::FileSet& files, const CodecOptions& options) {
  CodecConfig config = find_config(files);
  return std::make_shared<const Codec>(find_weights(files), std::move(config), options);
}

Codec::Codec(const io::StateDict& dict, CodecConfig config, const CodecOptions& options)
    : config_(std::move(config)), dtype_(options.dtype), device_(options.device) {
  if (dtype_ != at::kFloat && dtype_ != at::kBFloat16 && dtype_ != at::kHalf) {
    throw Error(Status::kUnsupported, "codec: computes in float32, bfloat16 or float16 only");
  }
  const c10::InferenceMode inference;
  const io::StateDict plain = plain_names(dict);
  Weights weights(plain, dtype_, device_,
                  options.shapes_only ? io::Reading::kShapes : io::Reading::kNumbers,
                  {options.cancel, options.progress});
  if (options.decoder) decoder_.emplace(weights, config_, options.block_elements);
  // In 16 bits other codes come out, and with them another sound: a reference is encoded once and
  // then spoken with for ever.
  weights.compute_in(at::kFloat);
  if (options.encoder) encoder_.emplace(weights, config_, options.block_elements);
  weights.finish();
  weight_bytes_ = weights.bytes();
  if (!options.shapes_only) fingerprint_ = table_fingerprint(weights, config_);
}

const DecodePath& Codec::decode_path() const {
  if (!decoder_) {
    throw Error(Status::kInvalidState,
                "codec: loaded without its decoder; load it with the decoder to make sound");
  }
  return *decoder_;
}

at::Tensor Codec::decode(const at::Tensor& codes, const CancelFlag* cancel) const {
  CarriedState state = decode_path().initial_state();
  return decode_path().forward(state, codes, cancel);
}

const EncodePath& Codec::encode_path() const {
  if (!encoder_) {
    throw Error(Status::kInvalidState,
                "codec: loaded without its encoder; load it with the encoder to encode sound");
  }
  return *encoder_;
}

int64_t Codec::checked_residual(std::optional<int64_t> residual_codebooks) const {
  const int64_t residual = residual_codebooks.value_or(config_.residual_codebooks);
  if (residual >= 0 && residual <= config_.residual_codebooks) return residual;
  throw Error(Status::kInvalidArgument,
              concat("codec encode: ", residual, " residual codebooks asked for, this codec has ",
                     config_.residual_codebooks));
}

at::Tensor Codec::checked_samples(const at::Tensor& samples) {
  if (samples.dim() == 1 && samples.scalar_type() == at::kFloat) {
    return samples.to(at::kCPU).contiguous();
  }
  throw Error(Status::kInvalidArgument,
              concat("codec encode: samples are ", shape_text(samples.sizes()),
                     samples.scalar_type() == at::kFloat ? "" : ", not float32",
                     "; expected one channel as [samples] of float32"));
}

at::Tensor Codec::encode(const at::Tensor& samples, std::optional<int64_t> residual_codebooks,
                         const CancelFlag* cancel) const {
  const EncodePath& path = encode_path();
  const int64_t residual = checked_residual(residual_codebooks);
  const at::Tensor checked = checked_samples(samples);
  if (checked.numel() == 0) {
    throw Error(Status::kInvalidArgument, "codec encode: no samples; pass at least one");
  }
  const c10::InferenceMode inference;
  const int64_t frame = config_.frame_length();
  const int64_t whole = checked.numel() / frame * frame;
  CarriedState state = path.initial_state();
  const at::Tensor codes = path.forward(state, checked.narrow(0, 0, whole), residual, cancel);
  if (whole == checked.numel()) return codes;
  const at::Tensor last = at::constant_pad_nd(checked.narrow(0, whole, checked.numel() - whole),
                                              {0, whole + frame - checked.numel()});
  return at::cat({codes, path.forward(state, last, residual, cancel)}, 1);
}

}  // namespace remora::codec
