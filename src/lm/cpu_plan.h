// A transformer's weights in the forms that the CPU's kernels read: made once, shared.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "lm/fast.h"
#include "lm/slow.h"
#include "nn/cpu/kernels.h"

namespace remora::lm {

struct CpuLayer {
  std::vector<float> attention_norm, ffn_norm;  // [dim]
  std::vector<float> q_norm, k_norm;            // [head_dim] or empty
  nn::cpu::MatrixView wqkv, wo, w1, w3, w2;
};

// Refers to the model's tensors, which must live longer.
struct CpuPlan {
  StackConfig config;
  float norm_eps = 0;
  std::vector<CpuLayer> layers;
  std::vector<float> final_norm;  // [dim]
  nn::cpu::MatrixView head;
  // Where the stack hands a hidden vector on (the slow one): after the final norm or before it,
  // then by `project` if there is one.
  bool normed_hidden = false;
  std::optional<nn::cpu::MatrixView> project;

  int64_t widest() const;  // of the vectors between matrices
};

// Nothing where a kernel cannot read the weights: another device, float16.
std::optional<CpuPlan> make_cpu_plan(const SlowModel& model, bool normed_hidden);
std::optional<CpuPlan> make_cpu_plan(const FastModel& model);

}  // namespace remora::lm
