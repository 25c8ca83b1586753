#include "codec/weights.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/norm_except_dim.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/concat.h"
#include "io/pages.h"

namespace remora::codec {
namespace {

struct Spelling {
  std::string_view direction;
  std::string_view magnitude;
};
constexpr std::array<Spelling, 2> kSpellings = {{
    {".parametrizations.weight.original1", ".parametrizations.weight.original0"},
    {".weight_v", ".weight_g"},
}};

at::Tensor unknown(const std::vector<int64_t>& shape) {
  return at::empty(shape, at::TensorOptions().dtype(at::kFloat).device(at::kMeta));
}

}  // namespace

Weights::Weights(const io::StateDict& dict, at::ScalarType compute, at::Device device,
                 io::Reading reading, LoadWatch watch)
    : dict_(dict),
      loader_(dict, reading),
      compute_(compute),
      device_(device),
      watch_(std::move(watch)) {
  for (const auto& [name, tensor] : dict.tensors()) total_ += tensor.byte_size();
}

at::Tensor Weights::plain(std::string_view name, const std::vector<int64_t>& shape) {
  if (watch_.cancel != nullptr) watch_.cancel->check("loading the codec");
  const bool fits = loader_.has(name) && loader_.shape_of(name) == shape;
  at::Tensor value = loader_.take(name, shape, at::kFloat);  // records what is wrong
  if (!fits) return unknown(shape);
  read_ += dict_.find(name)->byte_size();
  if (watch_.progress && total_ > 0) {
    // A tensor may be asked for twice.
    watch_.progress(std::min(1.0F, static_cast<float>(read_) / static_cast<float>(total_)));
  }
  return value;
}

void Weights::finish() const {
  if (watch_.cancel != nullptr) watch_.cancel->check("loading the codec");
  loader_.finish();
}

at::Tensor Weights::folded(std::string_view module, const std::vector<int64_t>& shape) {
  const std::string whole = concat(module, ".weight");
  if (loader_.has(whole)) return plain(whole, shape);
  for (const auto& [direction, magnitude] : kSpellings) {
    if (!loader_.has(concat(module, direction))) continue;
    std::vector<int64_t> magnitude_shape(shape.size(), 1);
    magnitude_shape[0] = shape[0];
    const at::Tensor v = plain(concat(module, direction), shape);
    const at::Tensor g = plain(concat(module, magnitude), magnitude_shape);
    if (v.is_meta() || g.is_meta()) return unknown(shape);
    at::Tensor product = io::tensor_of_pages(shape, at::kFloat);
    return at::mul_out(product, v, g / at::norm_except_dim(v, 2, 0));
  }
  loader_.problem(concat(dict_.files(), ": tensor ", whole, " ", shape_text(shape),
                         " (or its weight_g and weight_v) is missing"));
  return unknown(shape);
}

at::Tensor Weights::placed(const at::Tensor& value) {
  return counted(moved(value, value.scalar_type()));
}

at::Tensor Weights::computed(const at::Tensor& value) { return counted(moved(value, compute_)); }

at::Tensor Weights::moved(const at::Tensor& value, at::ScalarType type) const {
  if (value.is_meta() || !device_.is_cpu()) {
    return value.to(value.is_meta() ? at::kMeta : device_, type).contiguous();
  }
  if (value.scalar_type() == type && value.is_contiguous()) return value;
  return io::tensor_of_pages(value.sizes(), type).copy_(value);
}

at::Tensor Weights::counted(const at::Tensor& value) {
  bytes_ += value.nbytes();
  return value;
}

}  // namespace remora::codec
