#include "codec/decode_path.h"

#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "base/concat.h"
#include "base/error.h"

namespace remora::codec {
namespace {

// int64 in host memory, [rows, n], nothing negative.
at::Tensor checked_codes(const at::Tensor& codes, int64_t most_rows) {
  if (codes.dim() != 2 || codes.size(0) < 2 || codes.size(0) > most_rows) {
    throw Error(Status::kInvalidArgument,
                concat("codec decode: codes are ", shape_text(codes.sizes()), ", expected [2 to ",
                       most_rows, " rows, frames]"));
  }
  if (codes.scalar_type() != at::kInt && codes.scalar_type() != at::kLong) {
    throw Error(Status::kInvalidArgument,
                "codec decode: codes are not int32 or int64; pass whole numbers");
  }
  const at::Tensor host = codes.to(at::kCPU, at::kLong).contiguous();
  const int64_t* begin = host.const_data_ptr<int64_t>();
  const int64_t* end = begin + host.numel();
  const int64_t* bad = std::find_if(begin, end, [](int64_t code) { return code < 0; });
  if (bad != end) {
    const int64_t at = bad - begin;
    throw Error(Status::kInvalidArgument,
                concat("codec decode: code ", *bad, " at row ", at / host.size(1), ", frame ",
                       at % host.size(1), " is negative; codes count from 0"));
  }
  return host;
}

}  // namespace

DecodePath::DecodePath(Weights& weights, const CodecConfig& config, int64_t block_elements)
    : rows_(config.n_codebooks()),
      frame_length_(config.frame_length()),
      device_(weights.device()),
      dequantizer_(weights, layout_, config),
      decoder_(weights, layout_, config, block_elements) {}

at::Tensor DecodePath::forward(CarriedState& state, const at::Tensor& codes,
                               const CancelFlag* cancel, const Observer* observer) const {
  const c10::InferenceMode inference;
  const at::Tensor checked = checked_codes(codes, rows_);
  const int64_t n = checked.size(1);
  const at::Tensor wave = at::empty({n * frame_length_}, at::TensorOptions().dtype(at::kFloat));
  CarriedState next = state;
  Pass pass{next, cancel, observer};
  for (int64_t done = 0; done < n; done += kPieceFrames) {
    pass.check("codec decode");
    const int64_t frames = std::min(kPieceFrames, n - done);
    const at::Tensor piece = checked.narrow(1, done, frames).to(device_);
    wave.narrow(0, done * frame_length_, frames * frame_length_)
        .copy_(decoder_.forward(pass, dequantizer_.forward(pass, piece)));
    next.advance(frames);
  }
  state = std::move(next);
  return wave;
}

}  // namespace remora::codec
