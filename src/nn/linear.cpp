#include "nn/linear.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "nn/cpu/pack.h"
#include "nn/cpu/tiles.h"
#include "nn/parallel.h"

namespace remora::nn {
namespace {

using cpu::kBlockRows;

// Blocks that one task packs or unpacks.
constexpr int64_t kGrain = 4;

cpu::MatrixView quantised_view(const WeightFormat& format, int64_t out, int64_t in) {
  cpu::MatrixView view;
  view.kind = format.kind;
  view.rows = out;
  view.cols = in;
  view.group = format.group;
  return view;
}

PackedMatrix empty_packed(const cpu::MatrixView& view, at::Device device) {
  const auto options = at::TensorOptions().device(device);
  const auto scale_type = view.kind == cpu::MatrixKind::kInt8 ? at::kFloat : at::kHalf;
  return {at::empty(cpu::packed_shape(view), options.dtype(at::kByte)),
          at::empty(cpu::scale_shape(view), options.dtype(scale_type))};
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

// The rows of one block of a matrix in float32, zeros behind the last. floats: [16, cols]
void read_block(const at::Tensor& weight, int64_t block, std::vector<float>& floats) {
  const int64_t first = block * kBlockRows, cols = weight.size(1);
  const int64_t count = std::min(kBlockRows, weight.size(0) - first);
  const at::Tensor part = weight.narrow(0, first, count).to(at::kFloat).contiguous();
  const float* source = part.const_data_ptr<float>();
  floats.resize(static_cast<size_t>(kBlockRows * cols));
  std::copy_n(source, count * cols, floats.begin());
  std::fill(floats.begin() + count * cols, floats.end(), 0.0F);
}

void pack(const cpu::MatrixView& view, const at::Tensor& weight, const PackedMatrix& packed) {
  auto* data = packed.data.mutable_data_ptr<uint8_t>();
  void* scales = packed.scales.mutable_data_ptr();
  parallel_for(view.padded_rows() / kBlockRows, kGrain, [&](int64_t begin, int64_t end) {
    std::vector<float> rows;
    for (int64_t block = begin; block < end; ++block) {
      read_block(weight, block, rows);
      cpu::pack_block(view, rows.data(), block, data, scales);
    }
  });
}

bool multiplies_in_tiles(const cpu::MatrixView& view, const at::Tensor& x) {
  return x.is_cpu() && x.scalar_type() == at::kBFloat16 && view.cols == view.padded_cols() &&
         view.rows == view.padded_rows() && cpu::tile_kernels() != nullptr;
}

// 32 outputs at a time are brought into tiles, which stay in the core's cache until they have been
// multiplied with every row. x: [n, in] -> [n, out], bfloat16
at::Tensor product_in_tiles(const cpu::MatrixView& view, const at::Tensor& x) {
  constexpr int64_t kBlocks = 2;
  const cpu::TileKernels& kernels = *cpu::tile_kernels();
  const at::Tensor rows = x.contiguous();
  const at::Tensor y = at::empty({x.size(0), view.rows}, x.options());
  cpu::TileProduct product;
  product.x = static_cast<const uint16_t*>(rows.const_data_ptr());
  product.rows = rows.size(0);
  product.columns = view.cols;
  product.result = cpu::TileProduct::Result::kBf16;
  product.y_stride = view.rows;
  auto* out = static_cast<uint16_t*>(y.mutable_data_ptr());
  const int64_t blocks = view.rows / kBlockRows;
  parallel_for((blocks + kBlocks - 1) / kBlocks, 1, [&](int64_t begin, int64_t end) {
    const at::Tensor scratch =
        at::empty({kBlocks * kBlockRows, view.cols}, at::TensorOptions().dtype(at::kBFloat16));
    auto* tiles = static_cast<uint16_t*>(scratch.mutable_data_ptr());
    cpu::TileProduct part = product;
    part.tiles = tiles;
    for (int64_t first = begin * kBlocks; first < std::min(end * kBlocks, blocks);
         first += kBlocks) {
      const int64_t count = std::min(kBlocks, blocks - first), output = first * kBlockRows;
      for (int64_t block = 0; block < count; ++block) {
        kernels.unpack(view, first + block, tiles + block * kBlockRows * view.cols);
      }
      if (view.kind == cpu::MatrixKind::kInt8) {
        part.scale = static_cast<const float*>(view.scales) + output;
      }
      part.bias = view.bias != nullptr ? view.bias + output : nullptr;
      part.y = out + output;
      kernels.multiply(part, 0, count * kBlockRows);
    }
  });
  return y;
}

}  // namespace

void QuantisationError::add(const QuantisationError& other) {
  numbers += other.numbers;
  squared += other.squared;
  reference += other.reference;
  largest = std::max(largest, other.largest);
  size = std::max(size, other.size);
}

double QuantisationError::relative() const {
  return reference > 0 ? std::sqrt(squared / reference) : 0;
}

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

void Linear::keep_packed(const WeightFormat& format, int64_t out, int64_t in, PackedMatrix packed) {
  in_ = in;
  out_ = out;
  weight_ = std::move(packed.data);
  scales_ = std::move(packed.scales);
  view_ = quantised_view(format, out, in);
  if (weight_.is_meta() || scales_.is_meta()) return;
  view_.data = weight_.const_data_ptr();
  view_.scales = scales_.const_data_ptr();
}

PackedMatrix packed_form(const WeightFormat& format, int64_t out, int64_t in) {
  return empty_packed(quantised_view(format, out, in), at::kMeta);
}

Linear Linear::from_packed(const WeightFormat& format, int64_t out, int64_t in, PackedMatrix packed,
                           at::Tensor bias) {
  Linear linear;
  linear.keep_packed(format, out, in, std::move(packed));
  linear.keep_bias(std::move(bias));
  return linear;
}

Linear Linear::quantised(const at::Tensor& weight, const WeightFormat& format, at::Tensor bias) {
  const int64_t rows = weight.size(0), cols = weight.size(1);
  const cpu::MatrixView view = quantised_view(format, rows, cols);
  PackedMatrix packed = empty_packed(view, weight.is_meta() ? at::kMeta : at::kCPU);
  if (!weight.is_meta()) pack(view, weight, packed);
  return from_packed(format, rows, cols, std::move(packed), std::move(bias));
}

at::Tensor Linear::dense(at::ScalarType dtype) const {
  at::Tensor out = at::empty({view_.padded_rows(), in_}, at::TensorOptions().dtype(dtype));
  parallel_for(view_.padded_rows() / kBlockRows, kGrain, [&](int64_t begin, int64_t end) {
    if (dtype == at::kBFloat16) {
      auto* rows = static_cast<uint16_t*>(out.mutable_data_ptr());
      for (int64_t block = begin; block < end; ++block) {
        cpu::best_kernels().unpack(view_, block, rows + block * kBlockRows * in_);
      }
      return;
    }
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
  if (view_.quantised() && multiplies_in_tiles(view_, x)) return product_in_tiles(view_, x);
  return at::linear(x, view_.quantised() ? dense(x.scalar_type()) : weight_, bias_);
}

PackedMatrix Linear::packed() const {
  return view_.quantised() ? PackedMatrix{weight_, scales_} : PackedMatrix{};
}

QuantisationError Linear::error_against(const at::Tensor& original) const {
  QuantisationError sum;
  std::vector<float> exact, rounded(static_cast<size_t>(kBlockRows * in_));
  for (int64_t block = 0; block < view_.padded_rows() / kBlockRows; ++block) {
    read_block(original, block, exact);
    cpu::unpack_block(view_, block, rounded.data());
    const int64_t count = std::min(kBlockRows, out_ - block * kBlockRows) * in_;
    QuantisationError part;
    part.numbers = static_cast<uint64_t>(count);
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
      const double difference = double{rounded[i]} - double{exact[i]};
      part.squared += difference * difference;
      part.reference += double{exact[i]} * double{exact[i]};
      part.largest = std::max(part.largest, std::fabs(difference));
      part.size = std::max(part.size, std::fabs(double{exact[i]}));
    }
    sum.add(part);
  }
  return sum;
}

uint64_t Linear::bytes() const {
  uint64_t sum = weight_.nbytes();
  for (const at::Tensor& part : {scales_, bias_}) {
    if (part.defined()) sum += part.nbytes();
  }
  return sum;
}

}  // namespace remora::nn
