// The block that both transformers are made of, and a stack of them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "base/cancel.h"
#include "lm/config.h"
#include "nn/kv_cache.h"
#include "nn/linear.h"

namespace remora::lm {

// What one forward pass runs with. The references stay the caller's.
struct PassContext {
  nn::KvCache& kv;
  nn::KvRows rows;
  at::Tensor rope;  // [rows.count, head_dim / 2, 2] float32
  nn::SdpaPolicy sdpa = nn::SdpaPolicy::kAuto;
  nn::SdpaReport& report;
  const CancelFlag* cancel = nullptr;  // checked before each block
};

// x + attention(norm(x)), then + feed-forward(norm(x)).
struct Block {
  at::Tensor attention_norm, ffn_norm;  // [dim]
  at::Tensor q_norm, k_norm;            // [head_dim], undefined without qk_norm
  nn::Linear wqkv;                      // dim -> query heads, key heads, value heads
  nn::Linear wo;                        // heads * head_dim -> dim
  nn::Linear w1, w3;                    // dim -> intermediate
  nn::Linear w2;                        // intermediate -> dim

  uint64_t bytes() const;
};

class Transformer {
 public:
  Transformer(const StackConfig& config, double norm_eps, std::vector<Block> blocks);

  // x: [rows.count, dim] -> [rows.count, dim]; the last block's output, before any final norm.
  // Throws Error{kCancelled}, and what KvCache::attend throws.
  at::Tensor forward(at::Tensor x, const PassContext& pass) const;

  // The two halves of block `layer`, for tests that look inside. z: normed input [n, dim].
  at::Tensor attend(int64_t layer, const at::Tensor& z, const PassContext& pass) const;
  at::Tensor feed_forward(int64_t layer, const at::Tensor& z) const;
  at::Tensor norm(const at::Tensor& x, const at::Tensor& weight) const;

  const StackConfig& config() const { return config_; }
  double norm_eps() const { return norm_eps_; }
  const std::vector<Block>& blocks() const { return blocks_; }
  uint64_t bytes() const;
  nn::KvShape kv_shape(at::ScalarType dtype, at::Device device) const;

 private:
  StackConfig config_;
  double norm_eps_;
  std::vector<Block> blocks_;
};

}  // namespace remora::lm
