// Everything between waveform and codes, with the state a stream of it carries.
#pragma once

#include <ATen/core/Tensor.h>

#include "codec/config.h"
#include "codec/encoder.h"
#include "codec/quantizer.h"

namespace remora::codec {

// Frames encoded together; longer sound is cut into pieces of this many.
inline constexpr int64_t kEncodePieceFrames = 32;

class EncodePath {
 public:
  EncodePath(Weights& weights, const CodecConfig& config, int64_t block_elements);

  CarriedState initial_state() const { return CarriedState(layout_, device_); }
  const StateLayout& layout() const { return layout_; }

  // The next n >= 0 frames of a stream: samples [n * frame_length] float32 in host memory, to
  // int32 [1 + residual, n] in host memory; residual from 0 to residual_codebooks. Throws
  // Error{kInvalidArgument} for a sample that is not finite. `state` moves on by n frames; when
  // anything is thrown it stays as it was.
  at::Tensor forward(CarriedState& state, const at::Tensor& samples, int64_t residual,
                     const CancelFlag* cancel = nullptr, const Observer* observer = nullptr) const;

 private:
  int64_t frame_length_;
  at::Device device_;
  StateLayout layout_;  // before the modules, which register in it
  Encoder encoder_;
  Quantizer quantizer_;
};

}  // namespace remora::codec
