#include "codec/encode_stream.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>

#include <utility>

namespace remora::codec {

EncodeStream::EncodeStream(std::shared_ptr<const Codec> codec,
                           std::optional<int64_t> residual_codebooks)
    : codec_(std::move(codec)), residual_(codec_->checked_residual(residual_codebooks)) {
  reset();
}

at::Tensor EncodeStream::push(const at::Tensor& samples, const CancelFlag* cancel) {
  const c10::InferenceMode inference;
  const at::Tensor all = at::cat({waiting_, Codec::checked_samples(samples)});
  const int64_t frame = codec_->config().frame_length();
  const int64_t whole = all.numel() / frame * frame;
  at::Tensor codes =
      codec_->encode_path().forward(state_, all.narrow(0, 0, whole), residual_, cancel);
  waiting_ = all.narrow(0, whole, all.numel() - whole).clone();
  return codes;
}

at::Tensor EncodeStream::finish(const CancelFlag* cancel) {
  const c10::InferenceMode inference;
  const int64_t frame = codec_->config().frame_length();
  const int64_t missing = waiting_.numel() > 0 ? frame - waiting_.numel() : 0;
  const at::Tensor last = at::constant_pad_nd(waiting_, {0, missing});
  at::Tensor codes = codec_->encode_path().forward(state_, last, residual_, cancel);
  reset();
  return codes;
}

void EncodeStream::reset() {
  const c10::InferenceMode inference;
  state_ = codec_->encode_path().initial_state();
  waiting_ = at::empty({0}, at::TensorOptions().dtype(at::kFloat));
}

}  // namespace remora::codec
