#include "codec/conv.h"

#include "io/pages.h"

namespace remora::codec {
namespace {

// Phase r of a step is a convolution with taps r, r + stride, ... The oldest row comes first in a
// window, and it meets the last tap. weight: [in, out, taps * stride] -> [stride * out, in, taps]
at::Tensor by_phase(const at::Tensor& weight, const CausalConvTranspose1d::Shape& shape) {
  const int64_t taps = shape.taps();
  const std::vector<int64_t> phases{shape.stride * shape.out, shape.in, taps};
  if (weight.is_meta()) return weight.reshape(phases);
  const at::Tensor steps = weight.reshape({shape.in, shape.out, taps, shape.stride});
  at::Tensor turned =
      io::tensor_of_pages({shape.stride, shape.out, shape.in, taps}, weight.scalar_type());
  for (int64_t tap = 0; tap < taps; ++tap) {
    turned.select(3, tap).copy_(steps.select(2, taps - 1 - tap).permute({2, 1, 0}));
  }
  return turned.view(phases);
}

}  // namespace

CausalConv1d::CausalConv1d(Weights& weights, StateLayout& layout, const std::string& module,
                           const Shape& shape)
    : module_(module),
      carried_(layout, "conv_tail/" + module, shape.carried(), shape.in,
               shape.wide ? at::kFloat : weights.compute()) {
  const auto place = [&](const at::Tensor& value) {
    return weights.moved(value, shape.wide ? at::kFloat : weights.compute());
  };
  const at::Tensor weight =
      place(weights.folded(module + ".conv", {shape.out, shape.in, shape.kernel}));
  const at::Tensor bias = place(weights.plain(module + ".conv.bias", {shape.out}));
  if (weight.is_meta() != bias.is_meta()) return;  // one is missing, as finish() will say
  kernel_ = make_row_kernel(weight, bias, shape, weights.device());
  weights.count(kernel_->bytes());
}

at::Tensor CausalConv1d::apply(const Pass& pass, const at::Tensor& rows) const {
  at::Tensor y = kernel_->apply(rows);
  pass.note(module_, "", y);
  return y;
}

at::Tensor CausalConv1d::forward_wide(Pass& pass, const at::Tensor& x) const {
  const at::Tensor rows = carried_.joined(pass, x);
  keep(pass, rows);
  at::Tensor y = kernel_->apply_wide(rows);
  pass.note(module_, "", y);
  return y;
}

void CausalConv1d::add_to(const Pass& pass, const at::Tensor& rows, const at::Tensor& y) const {
  if (pass.observer == nullptr) return kernel_->add_to(rows, y);
  y.add_(apply(pass, rows));
}

CausalConvTranspose1d::CausalConvTranspose1d(Weights& weights, StateLayout& layout,
                                             const std::string& module, const Shape& shape)
    : module_(module),
      shape_(shape),
      carried_(layout, "convT_last/" + module, shape.taps() - 1, shape.in, weights.compute()) {
  const int64_t taps = shape.taps();
  const at::Tensor weight =
      weights.folded(module + ".conv", {shape.in, shape.out, taps * shape.stride});
  const at::Tensor bias = weights.plain(module + ".conv.bias", {shape.out});
  if (weight.is_meta() != bias.is_meta()) return;  // one is missing, as finish() will say
  const auto place = [&](const at::Tensor& value) {
    return weights.moved(value, weights.compute());
  };
  kernel_ = make_product_kernel(place(by_phase(weight, shape)), place(bias.repeat(shape.stride)),
                                {.in = shape.in, .out = shape.stride * shape.out, .kernel = taps},
                                weights.device());
  weights.count(kernel_->bytes());
}

at::Tensor CausalConvTranspose1d::close(Pass& pass, const at::Tensor& rows) const {
  carried_.keep(pass, rows);
  // [n, stride * out] in memory is [n * stride, out].
  const at::Tensor y = kernel_->apply_wide(rows).view({-1, shape_.out});
  pass.note(module_, "", y);
  return y;
}

}  // namespace remora::codec
