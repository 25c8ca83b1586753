#include "nn/tile_matrix.h"

#include <ATen/ops/empty.h>

#include <algorithm>

#include "nn/pages.h"
#include "nn/parallel.h"

namespace remora::nn {
namespace {

using cpu::kTileColumns;
using cpu::kTileOutputs;
using Result = cpu::TileProduct::Result;

// Outputs that one task computes at least, and rows: the kernel's own steps, several of them.
constexpr int64_t kOutputs = 2 * kTileOutputs;
constexpr int64_t kRows = 256;

// [out, in, taps] -> [outs of 16][taps][ins of 32][16 pairs][16 outs][2], in pages of its own:
// between the temporaries of a load it would keep the heap from shrinking.
at::Tensor in_tiles(const at::Tensor& weight) {
  const int64_t outs = weight.size(0) / kTileOutputs, ins = weight.size(1) / kTileColumns;
  const int64_t taps = weight.size(2), pairs = kTileColumns / 2;
  at::Tensor tiles = untouched_pages({outs, taps, ins, pairs, kTileOutputs, 2}, weight.options());
  return tiles.copy_(
      weight.reshape({outs, kTileOutputs, ins, pairs, 2, taps}).permute({0, 5, 2, 3, 1, 4}));
}

const uint16_t* bits(const at::Tensor& tensor) {
  return static_cast<const uint16_t*>(tensor.const_data_ptr());
}

}  // namespace

void multiply_tiles(const cpu::TileProduct& product, int64_t outputs) {
  const cpu::TileKernels& kernels = *cpu::tile_kernels();
  const int64_t groups = (outputs + kOutputs - 1) / kOutputs;
  // Few outputs are shared out by rows as well.
  const int64_t parts = std::max<int64_t>(1, product.rows / kRows);
  parallel_for(groups * parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end;) {
      // As many parts of one group of outputs as there are.
      const int64_t group = task / parts, part = task % parts;
      const int64_t next = std::min(end, (group + 1) * parts);
      const int64_t first = product.rows * part / parts;
      cpu::TileProduct own = product;
      own.rows = product.rows * (part + next - task) / parts - first;
      own.x += first * product.columns;
      const int64_t size = product.result == Result::kBf16 ? 2 : 4;
      own.y = static_cast<char*>(product.y) + first * product.y_stride * size;
      kernels.multiply(own, group * kOutputs, std::min(outputs, (group + 1) * kOutputs));
      task = next;
    }
  });
}

bool TileMatrix::fits(at::Device device, at::ScalarType type, int64_t out, int64_t in) {
  return device.is_cpu() && type == at::kBFloat16 && out % kTileOutputs == 0 &&
         in % kTileColumns == 0 && cpu::tile_kernels() != nullptr;
}

TileMatrix::TileMatrix(const at::Tensor& weight, const at::Tensor& bias, int64_t dilation)
    : out_(weight.size(0)),
      in_(weight.size(1)),
      taps_(weight.size(2)),
      dilation_(dilation),
      tiles_(in_tiles(weight)) {
  if (bias.defined()) bias_ = bias.to(at::kFloat).contiguous();
}

void TileMatrix::multiply(const at::Tensor& x, const at::Tensor& y, Result result) const {
  cpu::TileProduct product;
  product.x = bits(x);
  product.rows = rows_of(x);
  product.columns = in_;
  product.taps = taps_;
  product.tap_rows = dilation_;
  product.tiles = bits(tiles_);
  product.bias = bias_.defined() ? bias_.const_data_ptr<float>() : nullptr;
  product.result = result;
  product.y = y.mutable_data_ptr();
  product.y_stride = out_;
  multiply_tiles(product, out_);
}

at::Tensor TileMatrix::apply(const at::Tensor& x) const {
  at::Tensor y = at::empty({rows_of(x), out_}, x.options());
  multiply(x, y, Result::kBf16);
  return y;
}

at::Tensor TileMatrix::apply_wide(const at::Tensor& x) const {
  at::Tensor y = at::empty({rows_of(x), out_}, x.options().dtype(at::kFloat));
  multiply(x, y, Result::kF32);
  return y;
}

void TileMatrix::add_to(const at::Tensor& x, const at::Tensor& y) const {
  multiply(x, y, Result::kAddedToF32);
}

uint64_t TileMatrix::bytes() const {
  return tiles_.nbytes() + (bias_.defined() ? bias_.nbytes() : 0);
}

}  // namespace remora::nn
