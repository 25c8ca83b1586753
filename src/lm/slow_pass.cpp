#include "lm/slow_pass.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>

#include "lm/cpu_plan.h"

namespace remora::lm {

bool one_go_applies(const LanguageModel& model, nn::KvMode mode, nn::SdpaPolicy sdpa) {
  return model.slow_plan() != nullptr && mode == nn::KvMode::kActivePrefix &&
         sdpa == nn::SdpaPolicy::kAuto;
}

at::Tensor tensor_over(std::span<const float> values) {
  return at::from_blob(const_cast<float*>(values.data()), {static_cast<int64_t>(values.size())},
                       at::TensorOptions().dtype(at::kFloat));
}

SlowPass::SlowPass(const LanguageModel& model, nn::KvMode mode, nn::SdpaPolicy sdpa,
                   int64_t capacity, nn::ThreadPool& pool)
    : model_(model),
      sdpa_(sdpa),
      kv_(nn::make_kv_cache(mode,
                            model.slow().transformer().kv_shape(model.dtype(), model.device()),
                            capacity, model.config().max_seq_len)),
      rope_(model.config().slow.head_dim, model.config().rope_base, model.device()),
      graph_(model.device()) {
  const bool masked = mode != nn::KvMode::kActivePrefix;
  nn::check_sdpa(sdpa, model.device(), model.dtype(), model.config().slow.head_dim, masked);
  if (one_go_applies(model, mode, sdpa)) {
    runner_.emplace(*model.slow_plan(), pool, 1);
    runner_out_ = {tensor_over(runner_->logits()), tensor_over(runner_->hidden()).unsqueeze(0)};
  }
  if (mode != nn::KvMode::kGraph) return;
  rope_.reserve(capacity);
  const auto options = at::TensorOptions().device(model.device());
  static_.x = at::empty({1, model.config().slow.dim}, options.dtype(model.dtype()));
  static_.position = at::empty({1}, options.dtype(at::kLong));
}

SlowOutput SlowPass::prefill(std::span<const int32_t> columns, int64_t start,
                             const CancelFlag& cancel) {
  const at::Tensor x = model_.slow().embed(columns, model_.dtype(), model_.device());
  const nn::KvRows rows{start, x.size(0), {}};
  written_ = std::max(written_, rows.kv_len());
  const PassContext pass{*kv_,   rows, rope_.rows(start, rows.count), sdpa_, prefill_report_,
                         &cancel};
  return model_.slow().output(model_.slow().transformer().forward(x, pass));
}

SlowOutput SlowPass::step(std::span<const int32_t> column, int64_t position,
                          const CancelFlag& cancel) {
  written_ = std::max(written_, position + 1);
  if (runner_) {
    cancel.check("language model");
    return one_go_step(column, position);
  }
  const at::Tensor x = model_.slow().embed(column, model_.dtype(), model_.device());
  if (static_.x.defined()) return static_step(x, position, cancel);
  const nn::KvRows rows{position, 1, {}};
  const PassContext pass{*kv_, rows, rope_.rows(position, 1), sdpa_, step_report_, &cancel};
  return model_.slow().output(model_.slow().transformer().forward(x, pass));
}

void SlowPass::keep(int64_t count, int64_t held) {
  kv_->forget(count, std::max(written_, held));
  written_ = count;
}

SlowOutput SlowPass::one_go_step(std::span<const int32_t> column, int64_t position) {
  model_.slow().embed_column(column, runner_->input(0));
  const Lane own = lane(position);
  runner_->run({&own, 1});
  step_report_.backend = nn::SdpaPolicy::kBuiltin;
  return runner_out_;
}

Lane SlowPass::lane(int64_t position) {
  written_ = std::max(written_, position + 1);
  return {kv_.get(), position, rope_.data(position, 1)};
}

SlowOutput SlowPass::adopt(std::span<const float> logits, std::span<const float> hidden) {
  runner_->adopt(logits, hidden);
  step_report_.backend = nn::SdpaPolicy::kBuiltin;
  return runner_out_;
}

SlowOutput SlowPass::static_step(const at::Tensor& x, int64_t position, const CancelFlag& cancel) {
  static_.x.copy_(x);
  static_.position.fill_(position);
  // A captured step cannot stop in the middle; uncaptured it can.
  cancel.check("language model");
  graph_.run([&] {
    const nn::KvRows rows{position, 1, static_.position};
    const PassContext pass{*kv_,  rows,         rope_.row_at(static_.position),
                           sdpa_, step_report_, nullptr};
    static_.out = model_.slow().output(model_.slow().transformer().forward(static_.x, pass));
  });
  return static_.out;
}

}  // namespace remora::lm
