// Everything between codes and waveform, with the state a stream of it carries.
#pragma once

#include <ATen/core/Tensor.h>

#include "codec/config.h"
#include "codec/decoder.h"
#include "codec/dequantizer.h"

namespace remora::codec {

// Frames worked on together: enough for the matrix products to be efficient, few enough for memory
// to stay small. A longer push is cut into pieces of this many.
inline constexpr int64_t kPieceFrames = 12;

class DecodePath {
 public:
  DecodePath(Weights& weights, const CodecConfig& config, int64_t block_elements);

  CarriedState initial_state() const { return CarriedState(layout_, device_); }
  const StateLayout& layout() const { return layout_; }

  // The next n >= 0 frames of a stream: codes [rows, n] (see Codec::decode) to
  // [n * frame_length] float32 in host memory. `state` moves on by n frames; when anything is
  // thrown it stays as it was.
  at::Tensor forward(CarriedState& state, const at::Tensor& codes,
                     const CancelFlag* cancel = nullptr, const Observer* observer = nullptr) const;

 private:
  int64_t rows_;
  int64_t frame_length_;
  at::Device device_;
  StateLayout layout_;  // before the modules, which register in it
  Dequantizer dequantizer_;
  Decoder decoder_;
};

}  // namespace remora::codec
