#include "nn/linear.h"

#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "nn/cpu/pack.h"

namespace remora::nn {
namespace {

using cpu::kBlockRows;

// Blocks that one task packs or unpacks.
constexpr int64_t kGrain = 4;

at::Tensor bytes_of(size_t count, at::Device device) {
  return at::empty({static_cast<int64_t>(count)},
                   at::TensorOptions().dtype(at::kByte).device(device));
}

cpu::MatrixView dense_view(const at::Tensor& weight) {
  cpu::MatrixView view;
  view.rows = weight.size(0);
  view.cols = weight.size(1);
  const bool bf16 = weight.scalar_type() == at::kBFloat16;
  view.kind = bf16 ? cpu::MatrixKind::kBf16 : cpu::MatrixKind::kF32;
  const bool readable = weight.device().is_cpu() && weight.is_contiguous() &&
                        (bf16 || weight.scalar_type() == at::kFloat);
  view.data = readable ? weight.const_data_ptr() : nullptr;
  return view;
}

}  // namespace

void Linear::keep_bias(at::Tensor bias) {
  bias_ = std::move(bias);
  if (!bias_.defined() || !bias_.device().is_cpu()) return;
  bias_f32_ = bias_.to(at::kFloat).contiguous();
  view_.bias = bias_f32_.const_data_ptr<float>();
}

Linear::Linear(at::Tensor weight, at::Tensor bias)
    : in_(weight.size(1)), out_(weight.size(0)), weight_(std::move(weight)) {
  view_ = dense_view(weight_);
  keep_bias(std::move(bias));
}

Linear Linear::quantised(const at::Tensor& weight, const WeightFormat& format, at::Tensor bias) {
  Linear out;
  out.in_ = weight.size(1);
  out.out_ = weight.size(0);
  cpu::MatrixView& view = out.view_;
  view.kind = format.kind;
  view.rows = out.out_;
  view.cols = out.in_;
  view.group = format.group;
  const at::Device device = weight.is_meta() ? at::kMeta : at::kCPU;
  out.weight_ = bytes_of(cpu::packed_bytes(view), device);
  out.scales_ = bytes_of(cpu::scale_bytes(view), device);
  if (weight.is_meta()) {
    out.keep_bias(std::move(bias));
    return out;
  }
  auto* data = out.weight_.mutable_data_ptr<uint8_t>();
  auto* scales = out.scales_.mutable_data_ptr<uint8_t>();
  at::parallel_for(0, view.padded_rows() / kBlockRows, kGrain, [&](int64_t begin, int64_t end) {
    std::vector<float> rows(static_cast<size_t>(kBlockRows * view.cols));
    for (int64_t block = begin; block < end; ++block) {
      const int64_t first = block * kBlockRows;
      const int64_t count = std::min(kBlockRows, view.rows - first);
      const at::Tensor part = weight.narrow(0, first, count).to(at::kFloat).contiguous();
      const float* source = part.const_data_ptr<float>();
      std::copy_n(source, count * view.cols, rows.begin());
      std::fill(rows.begin() + count * view.cols, rows.end(), 0.0F);
      cpu::pack_block(view, rows.data(), block, data, scales);
    }
  });
  view.data = data;
  view.scales = scales;
  out.keep_bias(std::move(bias));
  return out;
}

at::Tensor Linear::dense(at::ScalarType dtype) const {
  at::Tensor out = at::empty({view_.padded_rows(), in_}, at::TensorOptions().dtype(dtype));
  at::parallel_for(0, view_.padded_rows() / kBlockRows, kGrain, [&](int64_t begin, int64_t end) {
    const auto floats = at::TensorOptions().dtype(at::kFloat);
    const at::Tensor rows = at::empty({kBlockRows, in_}, floats);
    for (int64_t block = begin; block < end; ++block) {
      cpu::unpack_block(view_, block, rows.mutable_data_ptr<float>());
      out.narrow(0, block * kBlockRows, kBlockRows).copy_(rows);
    }
  });
  return out.narrow(0, 0, out_);
}

at::Tensor Linear::operator()(const at::Tensor& x) const {
  return at::linear(x, view_.quantised() ? dense(x.scalar_type()) : weight_, bias_);
}

uint64_t Linear::bytes() const {
  uint64_t sum = weight_.nbytes();
  for (const at::Tensor& part : {scales_, bias_}) {
    if (part.defined()) sum += part.nbytes();
  }
  return sum;
}

}  // namespace remora::nn
