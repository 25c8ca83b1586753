#include "codec/window_transformer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addcmul.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <limits>

#include "nn/rms_norm.h"
#include "nn/rope.h"

namespace remora::codec {

WindowTransformer::WindowTransformer(Weights& weights, StateLayout& layout,
                                     const std::string& module, const TransformerConfig& config,
                                     int64_t tokens_per_frame)
    : module_(module),
      config_(config),
      tokens_per_frame_(tokens_per_frame),
      compute_(weights.compute()) {
  for (int64_t i = 0; i < config.layers; ++i) {
    layers_.push_back(make_layer(weights, layout, concat(module, ".layers.", i)));
  }
  norm_ = weights.constant(module + ".norm.weight", {config.dim});
}

WindowTransformer::Layer WindowTransformer::make_layer(Weights& weights, StateLayout& layout,
                                                       const std::string& module) const {
  const int64_t dim = config_.dim;
  const int64_t wide = config_.intermediate;
  const auto cache = [&](std::string_view part) {
    return layout.add({.name = concat("kv/", module, part),
                       .shape = {config_.heads, 0, config_.head_dim},
                       .dtype = compute_,
                       .growing_axis = 1,
                       .per_frame = tokens_per_frame_,
                       .most = config_.window - 1});
  };
  Layer layer;
  layer.module = module;
  layer.keys = cache(".k");
  layer.values = cache(".v");
  layer.attention_norm = weights.constant(module + ".attention_norm.weight", {dim});
  layer.ffn_norm = weights.constant(module + ".ffn_norm.weight", {dim});
  layer.attention_scale = weights.constant(module + ".attention_layer_scale.gamma", {dim});
  layer.ffn_scale = weights.constant(module + ".ffn_layer_scale.gamma", {dim});
  layer.qkv = Matrix(weights, module + ".attention.wqkv.weight", 3 * dim, dim);
  layer.out = Matrix(weights, module + ".attention.wo.weight", dim, dim);
  layer.gate = Matrix(weights, module + ".feed_forward.w1.weight", wide, dim);
  layer.up = Matrix(weights, module + ".feed_forward.w3.weight", wide, dim);
  layer.down = Matrix(weights, module + ".feed_forward.w2.weight", dim, wide);
  return layer;
}

WindowTransformer::Positions WindowTransformer::positions(const Pass& pass, int64_t n) const {
  const int64_t first = pass.state.frames() * tokens_per_frame_;
  Positions result;
  result.rotation =
      nn::rope_table(first, n, config_.head_dim, config_.rope_base).to(pass.state.device());
  if (n == 1) return result;  // the cache holds no token outside the window
  const int64_t cached = std::min(first, config_.window - 1);
  const auto options = at::TensorOptions().dtype(at::kLong).device(pass.state.device());
  const at::Tensor query = at::arange(cached, cached + n, options).unsqueeze(1);  // [n, 1]
  const at::Tensor age = query - at::arange(cached + n, options);                 // [n, cached + n]
  const at::Tensor hidden = age.lt(0).logical_or_(age.ge(config_.window));
  result.mask = at::zeros(hidden.sizes(), options.dtype(compute_))
                    .masked_fill_(hidden, -std::numeric_limits<double>::infinity());
  return result;
}

at::Tensor WindowTransformer::extend(Pass& pass, size_t slot, const at::Tensor& fresh) const {
  const at::Tensor all = at::cat({pass.state[slot], fresh}, 1);  // [heads, cached + n, head_dim]
  const int64_t kept = std::min(all.size(1), config_.window - 1);
  // A copy: a view would keep the whole of `all`.
  pass.state.set(slot, all.narrow(1, all.size(1) - kept, kept).clone());
  return all;
}

at::Tensor WindowTransformer::attend(Pass& pass, const Layer& layer, const Positions& at_positions,
                                     const at::Tensor& x) const {
  const int64_t n = x.size(0);
  const at::Tensor normed = nn::rms_norm(x, layer.attention_norm, config_.norm_eps);
  pass.note(layer.module, ".attention_norm", normed);
  const at::Tensor qkv = layer.qkv.apply(normed);
  pass.note(layer.module, ".attention.wqkv", qkv);
  const at::Tensor parts =  // [3, heads, n, head_dim]
      qkv.view({n, 3, config_.heads, config_.head_dim}).permute({1, 2, 0, 3});
  const at::Tensor query = nn::rope_rotate(parts[0], at_positions.rotation);
  const at::Tensor fresh_keys = nn::rope_rotate(parts[1], at_positions.rotation);
  pass.note(layer.module, "/q_rot", query);
  pass.note(layer.module, "/k_rot", fresh_keys);
  pass.note(layer.module, "/v", parts[2]);
  const at::Tensor keys = extend(pass, layer.keys, fresh_keys);
  const at::Tensor values = extend(pass, layer.values, parts[2]);
  std::optional<at::Tensor> mask;
  if (at_positions.mask.defined()) mask = at_positions.mask;
  const at::Tensor attended =  // [heads, n, head_dim]
      at::scaled_dot_product_attention(query.unsqueeze(0), keys.unsqueeze(0), values.unsqueeze(0),
                                       mask)
          .squeeze(0);
  pass.note(layer.module, "/sdpa", attended);
  const at::Tensor y = layer.out.apply_wide(attended.transpose(0, 1).reshape({n, config_.dim}));
  pass.note(layer.module, ".attention.wo", y);
  return y;
}

at::Tensor WindowTransformer::feed_forward(const Pass& pass, const Layer& layer,
                                           const at::Tensor& x) const {
  const at::Tensor wide = nn::rms_norm(x, layer.ffn_norm, config_.norm_eps);
  pass.note(layer.module, ".ffn_norm", wide);
  const at::Tensor normed = wide.to(compute_);
  at::Tensor gate = layer.gate.apply(normed);  // [n, intermediate]
  const at::Tensor up = layer.up.apply(normed);
  pass.note(layer.module, ".feed_forward.w1", gate);
  pass.note(layer.module, ".feed_forward.w3", up);
  const at::Tensor y = layer.down.apply_wide(at::silu(gate).mul_(up));
  pass.note(layer.module, ".feed_forward", y);
  return y;
}

at::Tensor WindowTransformer::forward(Pass& pass, const at::Tensor& x) const {
  const Positions here = positions(pass, x.size(0));
  at::Tensor stream = x;  // [n, dim], float32
  for (const Layer& layer : layers_) {
    pass.check("codec transformer");
    stream = at::addcmul(stream, attend(pass, layer, here, stream), layer.attention_scale);
    stream = at::addcmul(stream, feed_forward(pass, layer, stream), layer.ffn_scale);
    pass.note(layer.module, "", stream);
  }
  stream = nn::rms_norm(stream, norm_, config_.norm_eps);
  pass.note(module_, "", stream);
  return stream;
}

}  // namespace remora::codec
