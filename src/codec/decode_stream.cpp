#include "codec/decode_stream.h"

#include <c10/core/InferenceMode.h>

#include <utility>

namespace remora::codec {

DecodeStream::DecodeStream(std::shared_ptr<const Codec> codec) : codec_(std::move(codec)) {
  reset();
}

at::Tensor DecodeStream::push(const at::Tensor& codes, const CancelFlag* cancel) {
  return codec_->decode_path().forward(state_, codes, cancel);
}

void DecodeStream::reset() {
  const c10::InferenceMode inference;
  state_ = codec_->decode_path().initial_state();
}

void DecodeStream::restore(const std::vector<at::Tensor>& state, int64_t frames) {
  const c10::InferenceMode inference;
  state_.restore(codec_->decode_path().layout(), state, frames);
}

}  // namespace remora::codec
