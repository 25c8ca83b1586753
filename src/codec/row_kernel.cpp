#include "codec/row_kernel.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>

#include <array>
#include <utility>

#include "base/concat.h"
#include "base/log.h"
#include "codec/fast_filter.h"
#include "nn/tile_matrix.h"

namespace remora::codec {
namespace {

// Below these a stock convolution pads its blocks with zeros and a product does better.
constexpr int64_t kNarrowInput = 8;
constexpr int64_t kNarrowOutput = 4;
// From here on in float32, products are no slower than a stock convolution.
constexpr int64_t kWide = 512;
// For fewer outputs a stock convolution spends its time on reordering the weights.
constexpr int64_t kFewOutputs = 256;

// Windows of rows, [count, kernel * in]: window t begins at row t * stride and takes every
// `dilation`-th row. Copied where windows overlap.
at::Tensor unfolded(const at::Tensor& rows, const ConvShape& shape) {
  const int64_t count = (rows.size(0) - shape.carried()) / shape.stride;
  return rows
      .as_strided({count, shape.kernel, shape.in},
                  {shape.stride * shape.in, shape.dilation * shape.in, 1})
      .reshape({count, shape.kernel * shape.in});
}

// One matrix product of the unfolded rows: for strided layers and narrow inputs.
class UnfoldedProduct final : public RowKernel {
 public:
  UnfoldedProduct(const at::Tensor& weight, at::Tensor bias, const ConvShape& shape)
      : shape_(shape),
        weight_(weight.permute({2, 1, 0}).reshape({shape.kernel * shape.in, shape.out})),
        bias_(std::move(bias)) {}

  at::Tensor apply(const at::Tensor& rows) const override {
    return at::addmm(bias_, unfolded(rows, shape_), weight_);
  }
  uint64_t bytes() const override { return weight_.nbytes() + bias_.nbytes(); }

 private:
  ConvShape shape_;
  at::Tensor weight_;  // [kernel * in, out]
  at::Tensor bias_;    // [out]
};

// Stock convolution on a channels-last view: no copies. A product when there is little to do.
class StockConvolution final : public RowKernel {
 public:
  StockConvolution(const at::Tensor& weight, at::Tensor bias, const ConvShape& shape)
      : shape_(shape),
        weight_(weight.unsqueeze(2).contiguous(at::MemoryFormat::ChannelsLast)),
        matrix_(weight_.permute({0, 2, 3, 1}).reshape({shape.out, shape.kernel * shape.in})),
        bias_(std::move(bias)) {}

  at::Tensor apply(const at::Tensor& rows) const override {
    if (rows.size(0) - shape_.carried() < kFewOutputs) {
      return at::linear(unfolded(rows, shape_), matrix_, bias_);
    }
    return convolve(rows);
  }

  at::Tensor convolve(const at::Tensor& rows) const {
    const int64_t length = rows.size(0);
    // [1, in, 1, length] over the same memory, which is channels-last.
    const at::Tensor image = rows.as_strided(
        {1, shape_.in, 1, length}, {length * shape_.in, 1, length * shape_.in, shape_.in});
    const std::array<int64_t, 2> one = {1, 1}, zero = {0, 0}, dilation = {1, shape_.dilation};
    const at::Tensor y = at::conv2d(image, weight_, bias_, at::IntArrayRef(one),
                                    at::IntArrayRef(zero), at::IntArrayRef(dilation));
    return y.squeeze(2).squeeze(0).t().contiguous();  // [n, out]: already so in memory
  }
  // The matrix shares the weight's memory.
  uint64_t bytes() const override { return weight_.nbytes() + bias_.nbytes(); }

 private:
  ConvShape shape_;
  at::Tensor weight_;  // [out, in, 1, kernel], channels innermost
  at::Tensor matrix_;  // [out, kernel * in]: the same memory
  at::Tensor bias_;    // [out]
};

// One product for each tap, added up: nothing is copied or reordered. For wide layers in float32,
// where the sums are nothing beside the products; a stock convolution would reorder its weights in
// every call, which takes as much memory again.
class TapProducts final : public RowKernel {
 public:
  TapProducts(const at::Tensor& weight, at::Tensor bias, const ConvShape& shape)
      : shape_(shape), taps_(weight.permute({2, 1, 0}).contiguous()), bias_(std::move(bias)) {}

  at::Tensor apply(const at::Tensor& rows) const override {
    const int64_t n = rows.size(0) - shape_.carried();
    at::Tensor y = at::addmm(bias_, rows.narrow(0, 0, n), taps_[0]);  // [n, out]
    for (int64_t tap = 1; tap < shape_.kernel; ++tap) {
      y.addmm_(rows.narrow(0, tap * shape_.dilation, n), taps_[tap]);
    }
    return y;
  }
  uint64_t bytes() const override { return taps_.nbytes() + bias_.nbytes(); }

 private:
  ConvShape shape_;
  at::Tensor taps_;  // [kernel, in, out]
  at::Tensor bias_;  // [out]
};

// A product to [rows, kernel * out], then sums along its diagonals: for narrow outputs.
class DiagonalSums final : public RowKernel {
 public:
  DiagonalSums(const at::Tensor& weight, at::Tensor bias, const ConvShape& shape)
      : shape_(shape),
        weight_(weight.permute({1, 2, 0}).reshape({shape.in, shape.kernel * shape.out})),
        bias_(std::move(bias)) {}

  at::Tensor apply(const at::Tensor& rows) const override {
    const at::Tensor products = at::mm(rows, weight_);  // [carried + n, kernel * out]
    const int64_t width = products.size(1);
    // Tap j of output t lies in row t + j * dilation, columns j * out and on.
    const at::Tensor taps =
        products.as_strided({rows.size(0) - shape_.carried(), shape_.kernel, shape_.out},
                            {width, shape_.dilation * width + shape_.out, 1});
    return taps.sum(1) + bias_;  // [n, out]
  }
  uint64_t bytes() const override { return weight_.nbytes() + bias_.nbytes(); }

 private:
  ConvShape shape_;
  at::Tensor weight_;  // [in, kernel * out]
  at::Tensor bias_;    // [out]
};

// In the processor's tile unit: the rows are read where they lie, once for each tap.
class TileConvolution final : public RowKernel {
 public:
  TileConvolution(const at::Tensor& weight, const at::Tensor& bias, const ConvShape& shape)
      : matrix_(weight, bias, shape.dilation) {}

  static bool fits(at::Device device, at::ScalarType type, const ConvShape& shape) {
    return shape.stride == 1 && nn::TileMatrix::fits(device, type, shape.out, shape.in);
  }
  at::Tensor apply(const at::Tensor& rows) const override { return matrix_.apply(rows); }
  at::Tensor apply_wide(const at::Tensor& rows) const override { return matrix_.apply_wide(rows); }
  void add_to(const at::Tensor& rows, const at::Tensor& y) const override {
    matrix_.add_to(rows, y);
  }
  uint64_t bytes() const override { return matrix_.bytes(); }

 private:
  nn::TileMatrix matrix_;
};

bool is_wide(at::Device device, at::ScalarType type, const ConvShape& shape) {
  return device.is_cpu() && type == at::kFloat && shape.stride == 1 && shape.kernel > 1 &&
         shape.in >= kWide && shape.out >= kWide;
}

// Whether the stock convolution computes this layer on this machine.
bool is_right(const StockConvolution& kernel, const at::Tensor& weight, const at::Tensor& bias,
              const ConvShape& shape) {
  if (weight.scalar_type() == at::kFloat || !weight.is_cpu()) return true;
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(1);  // the host's stays untouched
  const at::Tensor rows = at::randn({shape.carried() + kFewOutputs, shape.in}, generator,
                                    at::TensorOptions().dtype(at::kFloat))
                              .to(weight.scalar_type());
  const UnfoldedProduct exact(weight.to(at::kFloat), bias.to(at::kFloat), shape);
  return agrees(kernel.convolve(rows), exact.apply(rows.to(at::kFloat)));
}

}  // namespace

void RowKernel::add_to(const at::Tensor& rows, const at::Tensor& y) const { y.add_(apply(rows)); }

bool agrees(const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor difference = (actual.to(at::kFloat) - expected).abs().max();
  // Not `>`: a NaN disagrees.
  return difference.item<float>() <= 0.02F * expected.abs().max().item<float>();
}

std::unique_ptr<const RowKernel> make_row_kernel(const at::Tensor& weight, const at::Tensor& bias,
                                                 const ConvShape& shape, at::Device device,
                                                 bool tiles) {
  if (!weight.is_meta()) device = weight.device();
  if (shape.out < kNarrowOutput && shape.stride == 1) {
    return std::make_unique<DiagonalSums>(weight, bias, shape);
  }
  const at::ScalarType type = weight.scalar_type();
  if (tiles && TileConvolution::fits(device, type, shape)) {
    return std::make_unique<TileConvolution>(weight, bias, shape);
  }
  if (FastFilter::fits(device, type, shape)) {
    return std::make_unique<FastFilter>(weight, bias, shape);
  }
  if (is_wide(device, type, shape)) return std::make_unique<TapProducts>(weight, bias, shape);
  if (shape.stride == 1 && shape.kernel > 1 && shape.in >= kNarrowInput) {
    auto stock = std::make_unique<StockConvolution>(weight, bias, shape);
    if (is_right(*stock, weight, bias, shape)) return stock;
    log(LogLevel::kInfo, concat("codec: the stock convolution is wrong for ", shape.in, " to ",
                                shape.out, " channels here; matrix products are used instead"));
  }
  return make_product_kernel(weight, bias, shape, device, tiles);
}

std::unique_ptr<const RowKernel> make_product_kernel(const at::Tensor& weight,
                                                     const at::Tensor& bias, const ConvShape& shape,
                                                     at::Device device, bool tiles) {
  if (!weight.is_meta()) device = weight.device();
  if (tiles && TileConvolution::fits(device, weight.scalar_type(), shape)) {
    return std::make_unique<TileConvolution>(weight, bias, shape);
  }
  return std::make_unique<UnfoldedProduct>(weight, bias, shape);
}

}  // namespace remora::codec
