#include "codec/weights.h"

#include <ATen/ops/_weight_norm.h>
#include <ATen/ops/empty.h>

#include <array>
#include <utility>

#include "base/concat.h"

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

at::Tensor Weights::plain(std::string_view name, const std::vector<int64_t>& shape) {
  const bool fits = loader_.has(name) && loader_.shape_of(name) == shape;
  at::Tensor value = loader_.take(name, shape, at::kFloat);  // records what is wrong
  return fits ? value : unknown(shape);
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
    return at::_weight_norm(v, g, 0);
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
  return value.to(value.is_meta() ? at::kMeta : device_, type).contiguous();
}

at::Tensor Weights::counted(const at::Tensor& value) {
  bytes_ += value.nbytes();
  return value;
}

}  // namespace remora::codec
