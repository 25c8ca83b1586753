#include "codec/convnext.h"

#include <ATen/ops/addcmul.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>

namespace remora::codec {

ConvNeXt::ConvNeXt(Weights& weights, StateLayout& layout, const std::string& module,
                   const CodecConfig& config)
    : module_(module),
      kernel_(config.convnext_kernel),
      norm_eps_(config.convnext_norm_eps),
      carried_(layout, "conv_tail/" + module + ".dwconv", kernel_ - 1, config.latent_dim,
               at::kFloat) {
  const int64_t dim = config.latent_dim;
  const int64_t wide = config.convnext_ratio * dim;
  const at::Tensor depth = weights.plain(module + ".dwconv.conv.weight", {dim, 1, kernel_});
  taps_ = weights.placed(depth.squeeze(1).t());
  depth_bias_ = weights.constant(module + ".dwconv.conv.bias", {dim});
  norm_weight_ = weights.constant(module + ".norm.weight", {dim});
  norm_bias_ = weights.constant(module + ".norm.bias", {dim});
  expand_ = Matrix(weights, module + ".pwconv1.weight", wide, dim, module + ".pwconv1.bias");
  contract_ = Matrix(weights, module + ".pwconv2.weight", dim, wide, module + ".pwconv2.bias");
  gamma_ = weights.constant(module + ".gamma", {dim});
}

at::Tensor ConvNeXt::depthwise(const at::Tensor& rows) const {
  const int64_t n = rows.size(0) - carried_.count();
  at::Tensor y = at::addcmul(depth_bias_, rows.narrow(0, 0, n), taps_[0]);
  for (int64_t tap = 1; tap < kernel_; ++tap) y.addcmul_(rows.narrow(0, tap, n), taps_[tap]);
  return y;
}

at::Tensor ConvNeXt::forward(Pass& pass, const at::Tensor& x) const {
  const at::Tensor rows = carried_.joined(pass, x);  // [kernel - 1 + n, dim]
  carried_.keep(pass, rows);
  at::Tensor y = depthwise(rows);
  pass.note(module_, ".dwconv", y);
  y = at::layer_norm(y, {y.size(1)}, norm_weight_, norm_bias_, norm_eps_);
  pass.note(module_, ".norm", y);
  y = expand_.apply(y);  // [n, ratio * dim]
  pass.note(module_, ".pwconv1", y);
  y = at::gelu(y);
  pass.note(module_, ".act", y);
  y = contract_.apply_wide(y);  // [n, dim]
  pass.note(module_, ".pwconv2", y);
  y = at::addcmul(x, y, gamma_);
  pass.note(module_, "", y);
  return y;
}

}  // namespace remora::codec
