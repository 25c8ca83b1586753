#include "codec/conv.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/conv2d.h>
#include <ATen/ops/mm.h>

namespace remora::codec {
namespace {

// Below these a stock convolution pads its blocks with zeros and a product does better.
constexpr int64_t kNarrowInput = 8;
constexpr int64_t kNarrowOutput = 4;

// Windows of rows, [count, taps, channels]: window t begins at row t * stride and takes every
// `dilation`-th row. A view; neighbouring windows overlap.
at::Tensor windows(const at::Tensor& rows, int64_t count, int64_t taps, int64_t stride,
                   int64_t dilation) {
  const int64_t channels = rows.size(1);
  return rows.as_strided({count, taps, channels}, {stride * channels, dilation * channels, 1});
}

}  // namespace

CausalConv1d::CausalConv1d(Weights& weights, StateLayout& layout, const std::string& module,
                           const Shape& shape)
    : module_(module),
      shape_(shape),
      path_(path_for(shape)),
      carried_(layout, "conv_tail/" + module, shape.carried(), shape.in,
               shape.wide ? at::kFloat : weights.compute()) {
  const auto dtype = shape.wide ? at::kFloat : weights.compute();
  const auto place = [&](const at::Tensor& value) { return value.to(weights.device(), dtype); };
  const at::Tensor weight = weights.folded(module + ".conv", {shape.out, shape.in, shape.kernel});
  weight_ =
      Weights::arranged(weight, [&](const at::Tensor& value) { return place(packed(value)); });
  bias_ = Weights::arranged(weights.plain(module + ".conv.bias", {shape.out}), place);
}

CausalConv1d::Path CausalConv1d::path_for(const Shape& shape) {
  if (shape.out < kNarrowOutput && shape.stride == 1) return Path::kNarrow;
  const bool plain = shape.stride == 1 && shape.kernel > 1 && shape.in >= kNarrowInput;
  return plain ? Path::kConvolution : Path::kMatrix;
}

// weight: [out, in, kernel], float32
at::Tensor CausalConv1d::packed(const at::Tensor& weight) const {
  switch (path_) {
    case Path::kConvolution:  // [out, in, 1, kernel], channels innermost
      return weight.unsqueeze(2).contiguous(at::MemoryFormat::ChannelsLast);
    case Path::kNarrow:  // [in, kernel * out]
      return weight.permute({1, 2, 0}).reshape({shape_.in, shape_.kernel * shape_.out});
    case Path::kMatrix:
      break;
  }
  return weight.permute({2, 1, 0}).reshape({shape_.kernel * shape_.in, shape_.out});
}

at::Tensor CausalConv1d::close(Pass& pass, const at::Tensor& rows) const {
  carried_.keep(pass, rows);
  at::Tensor y;
  switch (path_) {
    case Path::kConvolution:
      y = convolve(rows);
      break;
    case Path::kMatrix:
      y = multiply(rows);
      break;
    case Path::kNarrow:
      y = add_diagonals(rows);
      break;
  }
  pass.note(module_, "", y);
  return y;
}

at::Tensor CausalConv1d::convolve(const at::Tensor& rows) const {
  const int64_t length = rows.size(0);
  // [1, in, 1, length] over the same memory, which is channels-last.
  const at::Tensor image = rows.as_strided({1, shape_.in, 1, length},
                                           {length * shape_.in, 1, length * shape_.in, shape_.in});
  const std::array<int64_t, 2> one = {1, 1}, zero = {0, 0}, dilation = {1, shape_.dilation};
  const at::Tensor y = at::conv2d(image, weight_, bias_, at::IntArrayRef(one),
                                  at::IntArrayRef(zero), at::IntArrayRef(dilation));
  return y.squeeze(2).squeeze(0).t().contiguous();  // [n, out]: already so in memory
}

at::Tensor CausalConv1d::multiply(const at::Tensor& rows) const {
  const int64_t count = (rows.size(0) - carried_.count()) / shape_.stride;
  const at::Tensor unfolded = windows(rows, count, shape_.kernel, shape_.stride, shape_.dilation)
                                  .reshape({count, shape_.kernel * shape_.in});
  return at::addmm(bias_, unfolded, weight_);
}

at::Tensor CausalConv1d::add_diagonals(const at::Tensor& rows) const {
  const at::Tensor products = at::mm(rows, weight_);  // [carried + n, kernel * out]
  const int64_t width = products.size(1);
  // Tap j of output t lies in row t + j * dilation, columns j * out and on.
  const at::Tensor taps =
      products.as_strided({rows.size(0) - carried_.count(), shape_.kernel, shape_.out},
                          {width, shape_.dilation * width + shape_.out, 1});
  return taps.sum(1) + bias_;  // [n, out]
}

CausalConvTranspose1d::CausalConvTranspose1d(Weights& weights, StateLayout& layout,
                                             const std::string& module, const Shape& shape)
    : module_(module),
      shape_(shape),
      carried_(layout, "convT_last/" + module, shape.taps() - 1, shape.in, weights.compute()) {
  const int64_t taps = shape.taps();
  const at::Tensor weight =
      weights.folded(module + ".conv", {shape.in, shape.out, taps * shape.stride});
  // The oldest row comes first in a window, and it meets the last taps.
  weight_ = weights.computed(Weights::arranged(weight, [&](const at::Tensor& value) {
    return value.reshape({shape.in, shape.out, taps, shape.stride})
        .flip(2)
        .permute({2, 0, 3, 1})
        .reshape({taps * shape.in, shape.stride * shape.out});
  }));
  bias_ = weights.computed(
      Weights::arranged(weights.plain(module + ".conv.bias", {shape.out}),
                        [&](const at::Tensor& bias) { return bias.repeat(shape.stride); }));
}

at::Tensor CausalConvTranspose1d::close(Pass& pass, const at::Tensor& rows) const {
  carried_.keep(pass, rows);
  const int64_t taps = shape_.taps();
  const int64_t count = rows.size(0) - carried_.count();
  const at::Tensor unfolded = windows(rows, count, taps, 1, 1).reshape({count, taps * shape_.in});
  // [n, stride * out] in memory is [n * stride, out].
  const at::Tensor y =
      at::addmm(bias_, unfolded, weight_).view({count * shape_.stride, shape_.out});
  pass.note(module_, "", y);
  return y;
}

}  // namespace remora::codec
