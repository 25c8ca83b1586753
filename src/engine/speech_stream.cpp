#include "engine/speech_stream.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "base/concat.h"
#include "base/error.h"
#include "engine/fault_point.h"
#include "engine/saved_values.h"
#include "io/state_dict.h"

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
  fault_point(Work::kDecode);
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

void SpeechStream::save(ByteWriter& out) const {
  out.value(codec_->fingerprint());
  out.value(rows_);
  out.numbers<int32_t>(pending_);
  out.numbers<float>(ready());
  out.value<uint8_t>(finished_);
  out.value(schedule_.delivered());
  out.value(stream_.frames());
  out.value<uint64_t>(stream_.state().size());
  for (const at::Tensor& tensor : stream_.state()) {
    const at::Tensor plain = tensor.to(at::kCPU).contiguous();
    out.value<int8_t>(static_cast<int8_t>(plain.scalar_type()));
    out.numbers<int64_t>(std::span(plain.sizes()));
    out.numbers<std::byte>(
        std::span(static_cast<const std::byte*>(plain.const_data_ptr()), plain.nbytes()));
  }
}

namespace {

// Years of sound; positions stay far from overflow.
constexpr int64_t kMostFrames = int64_t{1} << 32;
constexpr size_t kMostExtents = 8;

at::Tensor read_tensor(ByteReader& in) {
  const auto type = static_cast<at::ScalarType>(in.value<int8_t>());
  if (type != at::kFloat && type != at::kBFloat16 && type != at::kHalf) {
    refuse_state("holds a codec tensor of an unknown type");
  }
  const std::vector<int64_t> shape = in.numbers<int64_t>();
  const auto bytes = in.bytes(in.value<uint64_t>());
  const auto elements = shape.size() <= kMostExtents ? io::element_count(shape) : std::nullopt;
  if (!elements || *elements * c10::elementSize(type) != bytes.size()) {
    refuse_state(concat("a codec tensor of ", shape.size(), " extents has ", bytes.size(),
                        " bytes, which is not their product"));
  }
  at::Tensor tensor = at::empty(shape, at::TensorOptions().dtype(type));
  if (!bytes.empty()) std::memcpy(tensor.mutable_data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

}  // namespace

void SpeechStream::load(ByteReader& in, int64_t rows, int64_t entries) {
  if (in.value<uint64_t>() != codec_->fingerprint()) {
    throw Error(
        Status::kInvalidArgument,
        "session state: was saved with another codec; load the model that it was saved with");
  }
  reset();
  rows_ = in.value<int64_t>();
  pending_ = read_codes(in, rows, entries, "codes waiting for the codec");
  // Nothing was pushed yet while there are no rows.
  if (rows_ != rows && (rows_ != 0 || !pending_.empty())) {
    refuse_state(concat("has codec frames of ", rows_, " codes, the model makes ", rows));
  }
  samples_ = in.numbers<float>();
  finished_ = in.value<uint8_t>() != 0;
  const int64_t delivered =
      checked_number(in.value<int64_t>(), 0, kMostFrames, "the number of decoded frames");
  schedule_.delivered(delivered);
  const int64_t frames =
      checked_number(in.value<int64_t>(), delivered, delivered, "the codec's number of frames");
  const auto slots = static_cast<int64_t>(stream_.state().size());
  const auto count = static_cast<int64_t>(in.value<uint64_t>());
  checked_number(count, slots, slots, "the number of codec tensors");
  std::vector<at::Tensor> state;
  for (int64_t i = 0; i < slots; ++i) state.push_back(read_tensor(in));
  as_saved([&] { stream_.restore(state, frames); });
}

}  // namespace remora::engine
