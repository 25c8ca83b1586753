#include "lm/transformer.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/silu.h>

#include <utility>

#include "nn/rms_norm.h"
#include "nn/rope.h"

namespace remora::lm {

uint64_t Block::bytes() const {
  uint64_t sum = wqkv.bytes() + wo.bytes() + w1.bytes() + w2.bytes() + w3.bytes();
  for (const at::Tensor& weight : {attention_norm, ffn_norm, q_norm, k_norm}) {
    if (weight.defined()) sum += weight.nbytes();
  }
  return sum;
}

Transformer::Transformer(const StackConfig& config, double norm_eps, std::vector<Block> blocks)
    : config_(config), norm_eps_(norm_eps), blocks_(std::move(blocks)) {}

at::Tensor Transformer::norm(const at::Tensor& x, const at::Tensor& weight) const {
  return nn::rms_norm(x, weight, norm_eps_);
}

at::Tensor Transformer::attend(int64_t layer, const at::Tensor& z, const PassContext& pass) const {
  const Block& block = blocks_[static_cast<size_t>(layer)];
  const int64_t n = z.size(0), dim = config_.head_dim;
  const at::Tensor qkv = block.wqkv(z).view({n, -1, dim}).transpose(0, 1);  // [all heads, n, dim]
  at::Tensor q = qkv.narrow(0, 0, config_.heads);
  at::Tensor k = qkv.narrow(0, config_.heads, config_.kv_heads);
  const at::Tensor v = qkv.narrow(0, config_.heads + config_.kv_heads, config_.kv_heads);
  if (block.q_norm.defined()) {
    q = nn::rms_norm_single_rounding(q, block.q_norm, norm_eps_);
    k = nn::rms_norm_single_rounding(k, block.k_norm, norm_eps_);
  }
  q = nn::rope_rotate(q, pass.rope);
  k = nn::rope_rotate(k, pass.rope);
  return block.wo(pass.kv.attend(layer, q, k, v, pass.rows, pass.sdpa, pass.report));
}

at::Tensor Transformer::feed_forward(int64_t layer, const at::Tensor& z) const {
  const Block& block = blocks_[static_cast<size_t>(layer)];
  return block.w2(at::silu(block.w1(z)).mul_(block.w3(z)));
}

at::Tensor Transformer::forward(at::Tensor x, const PassContext& pass) const {
  for (int64_t layer = 0; layer < config_.layers; ++layer) {
    if (pass.cancel != nullptr) pass.cancel->check("language model");
    const Block& block = blocks_[static_cast<size_t>(layer)];
    x = x + attend(layer, norm(x, block.attention_norm), pass);
    x = x + feed_forward(layer, norm(x, block.ffn_norm));
  }
  return x;
}

uint64_t Transformer::bytes() const {
  uint64_t sum = 0;
  for (const Block& block : blocks_) sum += block.bytes();
  return sum;
}

nn::KvShape Transformer::kv_shape(at::ScalarType dtype, at::Device device) const {
  return {config_.layers, config_.kv_heads, config_.head_dim, dtype, device};
}

}  // namespace remora::lm
