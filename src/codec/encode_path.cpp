#include "codec/encode_path.h"

#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/concat.h"
#include "base/error.h"

namespace remora::codec {
namespace {

// Checked before anything is computed: one NaN would spread over every later code.
void check_finite(const at::Tensor& samples, int64_t before) {
  const float* begin = samples.const_data_ptr<float>();
  const float* end = begin + samples.numel();
  const float* bad = std::find_if(begin, end, [](float x) { return !std::isfinite(x); });
  if (bad == end) return;
  throw Error(Status::kInvalidArgument, concat("codec encode: sample ", before + (bad - begin),
                                               " is not a finite number; is the sound damaged?"));
}

}  // namespace

EncodePath::EncodePath(Weights& weights, const CodecConfig& config, int64_t block_elements)
    : frame_length_(config.frame_length()),
      device_(weights.device()),
      encoder_(weights, layout_, config, block_elements),
      quantizer_(weights, layout_, config) {}

at::Tensor EncodePath::forward(CarriedState& state, const at::Tensor& samples, int64_t residual,
                               const CancelFlag* cancel, const Observer* observer) const {
  const c10::InferenceMode inference;
  check_finite(samples, state.frames() * frame_length_);
  const int64_t n = samples.numel() / frame_length_;
  const at::Tensor codes = at::empty({1 + residual, n}, at::TensorOptions().dtype(at::kInt));
  CarriedState next = state;
  Pass pass{next, cancel, observer};
  for (int64_t done = 0; done < n; done += kEncodePieceFrames) {
    pass.check("codec encode");
    const int64_t frames = std::min(kEncodePieceFrames, n - done);
    const at::Tensor piece =
        samples.narrow(0, done * frame_length_, frames * frame_length_).to(device_);
    const at::Tensor found = quantizer_.forward(pass, encoder_.forward(pass, piece), residual);
    codes.narrow(1, done, frames).copy_(found);
    next.advance(frames);
  }
  state = std::move(next);
  return codes;
}

}  // namespace remora::codec
