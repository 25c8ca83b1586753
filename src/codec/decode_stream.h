// Codes to sound, piece by piece, exactly as if decoded whole.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "base/cancel.h"
#include "base/live_count.h"
#include "codec/codec.h"

namespace remora::codec {

// One utterance being decoded. A copy is an independent continuation (cheap: the state's tensors
// are shared until either moves on). One thread at a time.
class DecodeStream : public LiveCount<DecodeStream> {
 public:
  // Throws Error{kInvalidState} when the codec was loaded without its decoder.
  explicit DecodeStream(std::shared_ptr<const Codec> codec);

  // The next n >= 0 frames: codes [rows, n] as Codec::decode takes them; returns
  // [n * frame_length] float32 in host memory. No look-ahead: all samples of these frames are
  // there. Equal to decoding the frames in one go up to rounding (other piece lengths make other
  // orders of summation). When it throws, the stream stands where it stood before the call.
  at::Tensor push(const at::Tensor& codes, const CancelFlag* cancel = nullptr);

  // Back to the start.
  void reset();

  // Frames pushed since the start.
  int64_t frames() const { return state_.frames(); }

  // For saving and restoring a stream: the carried tensors in a fixed order. They must not be
  // written to.
  const std::vector<at::Tensor>& state() const { return state_.tensors(); }
  // Throws Error{kInvalidArgument} when they do not come from such a codec behind `frames` frames.
  void restore(const std::vector<at::Tensor>& state, int64_t frames);
  uint64_t state_bytes() const { return state_.bytes(); }

  const Codec& codec() const { return *codec_; }

 private:
  std::shared_ptr<const Codec> codec_;
  CarriedState state_;
};

}  // namespace remora::codec
