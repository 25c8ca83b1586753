// Sound to codes, piece by piece, exactly as if encoded whole.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "base/cancel.h"
#include "codec/codec.h"

namespace remora::codec {

// One recording being encoded. A copy is an independent continuation. One thread at a time.
class EncodeStream {
 public:
  // `residual_codebooks`: how many follow the semantic one, 0 to all (the default). Throws
  // Error{kInvalidState} when the codec was loaded without its encoder, Error{kInvalidArgument}
  // for another number.
  explicit EncodeStream(std::shared_ptr<const Codec> codec,
                        std::optional<int64_t> residual_codebooks = std::nullopt);

  // The next samples, [n] float32 at the codec's rate, any n >= 0. Returns the codes of the frames
  // that are now complete, int32 [1 + residual, frames]; samples of an incomplete frame wait. When
  // it throws (Error{kInvalidArgument} for another shape or type or a sample that is not finite,
  // Error{kCancelled}), the stream stands where it stood before the call.
  at::Tensor push(const at::Tensor& samples, const CancelFlag* cancel = nullptr);

  // The end of the recording: waiting samples are filled up with silence to one last frame.
  // Returns [1 + residual, 0 or 1]; the stream is at the start again.
  at::Tensor finish(const CancelFlag* cancel = nullptr);

  // Back to the start; waiting samples are dropped.
  void reset();

  // Frames given out since the start.
  int64_t frames() const { return state_.frames(); }
  uint64_t state_bytes() const { return state_.bytes() + waiting_.nbytes(); }

 private:
  std::shared_ptr<const Codec> codec_;
  int64_t residual_;
  CarriedState state_;
  at::Tensor waiting_;  // [less than frame_length] float32, never written to
};

}  // namespace remora::codec
