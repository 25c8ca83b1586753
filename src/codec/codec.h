// The audio codec: immutable weights, shared by streams and threads.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <optional>

#include "base/cancel.h"
#include "base/live_count.h"
#include "codec/config.h"
#include "codec/decode_path.h"
#include "codec/encode_path.h"
#include "io/byte_source.h"
#include "io/state_dict.h"

namespace remora::codec {

struct CodecOptions {
  at::ScalarType dtype = at::kFloat;  // kFloat, kBFloat16 or kHalf: of decoding's large products
  at::Device device = at::kCPU;
  bool decoder = true;                    // codes to sound
  bool encoder = true;                    // sound to codes
  bool shapes_only = false;               // no numbers: see load()
  const CancelFlag* cancel = nullptr;     // checked between tensors while loading
  std::function<void(float)> progress{};  // fraction loaded, from the loading thread
  // Numbers per part of the convolutional activations; see Decoder.
  int64_t block_elements = kBlockElements;

  // 1 MiB of float32: about a core's second-level cache.
  static constexpr int64_t kBlockElements = int64_t{1} << 18;
};

// True when load() would find weights there.
bool has_codec(const io::FileSet& files);

class Codec : public LiveCount<Codec> {
 public:
  // Weights from codec.safetensors, else codec.pth; sizes from codec.json, else from a config.json
  // that describes a codec, else those of the released codec. Throws Error{kIo} when no weights
  // are there, Error{kFormat} naming file and field or every tensor that does not fit,
  // Error{kUnsupported} for another dtype, Error{kCancelled}. With shapes_only no weights are read,
  // and the codec can only be asked for config() and weight_bytes().
  static std::shared_ptr<const Codec> load(const io::FileSet& files, const CodecOptions& options);

  // From tensors in any of the accepted namings.
  Codec(const io::StateDict& dict, CodecConfig config, const CodecOptions& options);

  const CodecConfig& config() const { return config_; }
  at::ScalarType dtype() const { return dtype_; }
  bool has_decoder() const { return decoder_.has_value(); }
  bool has_encoder() const { return encoder_.has_value(); }
  // Memory of the weights in the form they are computed with, mapped files included.
  uint64_t weight_bytes() const { return weight_bytes_; }
  // Codes of one codec are noise to another; see table_fingerprint().
  uint64_t fingerprint() const { return fingerprint_; }

  // A whole clip: codes [rows, frames], int32 or int64, on any device, not written to; rows from 2
  // to config().n_codebooks() (fewer rows: the residual codebooks behind them stay out). An index
  // past a codebook's end counts as its last entry, because language models offer more ids than
  // some codebooks have. Returns [frames * frame_length] float32 in host memory. Worked on in
  // pieces: memory beyond the result does not grow with the length. Throws Error{kInvalidArgument}
  // for another shape or type or a negative index, Error{kInvalidState} without decoder weights,
  // Error{kCancelled} within a piece of `cancel` being raised.
  at::Tensor decode(const at::Tensor& codes, const CancelFlag* cancel = nullptr) const;

  // A whole recording: samples [n] float32 at the codec's rate, n >= 1, filled up with silence to
  // whole frames. Returns int32 [1 + residual, ceil(n / frame_length)] in host memory.
  // `residual_codebooks`: how many follow the semantic one, 0 to all (the default). Worked on in
  // pieces: memory does not grow with the length. Throws Error{kInvalidArgument} for another shape
  // or type, no samples, or a sample that is not finite; Error{kInvalidState} without encoder
  // weights; Error{kCancelled} within a piece of `cancel` being raised.
  at::Tensor encode(const at::Tensor& samples,
                    std::optional<int64_t> residual_codebooks = std::nullopt,
                    const CancelFlag* cancel = nullptr) const;

  // The networks themselves, for streams. Throw Error{kInvalidState} when they were not loaded.
  const DecodePath& decode_path() const;
  const EncodePath& encode_path() const;

  // Arguments as encode() takes them, for streams. Throw Error{kInvalidArgument}.
  int64_t checked_residual(std::optional<int64_t> residual_codebooks) const;
  static at::Tensor checked_samples(const at::Tensor& samples);  // in host memory, contiguous

 private:
  CodecConfig config_;
  at::ScalarType dtype_;
  at::Device device_;
  std::optional<DecodePath> decoder_;
  std::optional<EncodePath> encoder_;
  uint64_t weight_bytes_ = 0;
  uint64_t fingerprint_ = 0;
};

}  // namespace remora::codec
