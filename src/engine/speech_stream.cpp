#include "engine/speech_stream.h"

#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <chrono>

namespace remora::engine {

SpeechStream::SpeechStream(std::shared_ptr<const codec::Codec> codec, int64_t first,
                           int64_t largest)
    : codec_(std::move(codec)), stream_(codec_), schedule_(first, largest) {}

void SpeechStream::push(std::span<const int32_t> codes) {
  rows_ = static_cast<int64_t>(codes.size());
  pending_.insert(pending_.end(), codes.begin(), codes.end());
}

std::span<const float> SpeechStream::ready() const {
  return std::span(samples_).subspan(read_position_);
}

bool SpeechStream::decode_ready(const CancelFlag& cancel) {
  const int64_t gathered = pending_.empty() ? 0 : static_cast<int64_t>(pending_.size()) / rows_;
  const int64_t wanted = schedule_.next();
  if (gathered == 0 || (gathered < wanted && !finished_)) return false;
  cancel.check("codec decode");
  const int64_t frames = std::min(gathered, wanted);

  const auto start = std::chrono::steady_clock::now();
  const at::Tensor by_frame =
      at::from_blob(pending_.data(), {frames, rows_}, at::TensorOptions().dtype(at::kInt));
  const at::Tensor pcm = stream_.push(by_frame.transpose(0, 1), &cancel);  // [samples]
  decode_ns_ += static_cast<uint64_t>((std::chrono::steady_clock::now() - start).count());

  pending_.erase(pending_.begin(), pending_.begin() + frames * rows_);
  schedule_.delivered(frames);
  samples_.erase(samples_.begin(), samples_.begin() + static_cast<int64_t>(read_position_));
  read_position_ = 0;
  const float* data = pcm.const_data_ptr<float>();
  samples_.insert(samples_.end(), data, data + pcm.numel());
  return true;
}

size_t SpeechStream::read(std::span<float> dst, const CancelFlag& cancel) {
  if (ready().empty()) decode_ready(cancel);
  const std::span<const float> samples = ready();
  const size_t n = std::min(dst.size(), samples.size());
  std::copy_n(samples.begin(), n, dst.begin());
  consume(n);
  return n;
}

bool SpeechStream::drained() const {
  return finished_ && pending_.empty() && read_position_ == samples_.size();
}

void SpeechStream::reset() {
  stream_.reset();
  schedule_.reset();
  pending_.clear();
  samples_.clear();
  read_position_ = 0;
  finished_ = false;
  decode_ns_ = 0;
}

}  // namespace remora::engine
