#include "codec/snake.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/reciprocal.h>
#include <ATen/ops/sin.h>

#include "codec/snake_kernel.h"

namespace remora::codec {

Snake::Snake(Weights& weights, const std::string& module, int64_t channels, double eps) {
  const at::Tensor alpha = weights.plain(module + ".alpha", {1, channels, 1});
  alpha_ = weights.placed(alpha.reshape({channels}));
  inverse_ = at::reciprocal(alpha_ + eps);
}

void Snake::forward(const at::Tensor& x, at::Tensor out) const {
  if (x.is_cpu()) return snake_rows(x, alpha_, inverse_, out);
  const at::Tensor wide = x.to(at::kFloat);
  const at::Tensor sine = at::sin(wide * alpha_);
  out.copy_(at::addcmul(wide, sine * sine, inverse_));
}

}  // namespace remora::codec
