#include "lm/cpu_plan.h"

#include <algorithm>

namespace remora::lm {
namespace {

std::vector<float> floats(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  const at::Tensor flat = tensor.to(at::kCPU, at::kFloat).contiguous();
  const float* data = flat.const_data_ptr<float>();
  return {data, data + flat.numel()};
}

CpuLayer layer_of(const Block& block) {
  return {floats(block.attention_norm),
          floats(block.ffn_norm),
          floats(block.q_norm),
          floats(block.k_norm),
          block.wqkv.view(),
          block.wo.view(),
          block.w1.view(),
          block.w3.view(),
          block.w2.view()};
}

bool readable(const CpuPlan& plan) {
  const auto has_data = [](const nn::cpu::MatrixView& view) { return view.data != nullptr; };
  for (const CpuLayer& layer : plan.layers) {
    for (const auto* view : {&layer.wqkv, &layer.wo, &layer.w1, &layer.w3, &layer.w2}) {
      if (!has_data(*view)) return false;
    }
  }
  return has_data(plan.head) && (!plan.project || has_data(*plan.project));
}

CpuPlan plan_of(const Transformer& stack, const at::Tensor& norm, const nn::Linear& head) {
  CpuPlan plan;
  plan.config = stack.config();
  plan.norm_eps = static_cast<float>(stack.norm_eps());
  for (const Block& block : stack.blocks()) plan.layers.push_back(layer_of(block));
  plan.final_norm = floats(norm);
  plan.head = head.view();
  return plan;
}

}  // namespace

int64_t CpuPlan::widest() const {
  return std::max({config.dim, config.heads * config.head_dim, config.intermediate,
                   config.qkv_rows(), head.rows}) +
         nn::cpu::kGroup;
}

std::optional<CpuPlan> make_cpu_plan(const SlowModel& model, bool normed_hidden) {
  CpuPlan plan = plan_of(model.transformer(), model.parts().norm, model.parts().head);
  plan.normed_hidden = normed_hidden;
  if (model.parts().has_project) plan.project = model.parts().project.view();
  return readable(plan) ? std::optional(std::move(plan)) : std::nullopt;
}

std::optional<CpuPlan> make_cpu_plan(const FastModel& model) {
  CpuPlan plan = plan_of(model.transformer(), model.parts().norm, model.parts().head);
  return readable(plan) ? std::optional(std::move(plan)) : std::nullopt;
}

}  // namespace remora::lm
