#include "lm/fast_pass.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <array>

#include "lm/cpu_plan.h"
#include "lm/slow_pass.h"
#include "lm/table.h"

namespace remora::lm {

FastPass::FastPass(const LanguageModel& model, nn::KvMode mode, nn::SdpaPolicy sdpa,
                   nn::ThreadPool& pool)
    : model_(model),
      sdpa_(sdpa),
      kv_(nn::make_kv_cache(mode,
                            model.fast().transformer().kv_shape(model.dtype(), model.device()),
                            model.config().num_codebooks, model.config().num_codebooks)),
      rope_(model.config().fast.head_dim, model.config().rope_base, model.device()),
      graph_(model.device()) {
  nn::check_sdpa(sdpa, model.device(), model.dtype(), model.config().fast.head_dim,
                 mode != nn::KvMode::kActivePrefix);
  rope_.reserve(model.config().num_codebooks);
  if (one_go_applies(model, mode, sdpa)) {
    runner_.emplace(*model.fast_plan(), pool, 2);
    runner_logits_ = tensor_over(runner_->logits());
  }
  if (mode != nn::KvMode::kGraph) return;
  const auto options = at::TensorOptions().device(model.device());
  static_x_ = at::empty({1, model.config().fast.dim}, options.dtype(model.dtype()));
  static_position_ = at::empty({1}, options.dtype(at::kLong));
}

void FastPass::clear() { kv_->forget(0, kv_->capacity()); }

at::Tensor FastPass::begin(const at::Tensor& hidden, int32_t code0, const CancelFlag& cancel) {
  if (runner_) {
    cancel.check("language model");
    const at::Tensor first = hidden.contiguous();
    std::copy_n(first.const_data_ptr<float>(), first.numel(), runner_->input(0).begin());
    read_row(model_.fast().parts().embeddings, code0, runner_->input(1));
    std::array lanes{lane(0), lane(1)};
    lanes[0].output = false;
    runner_->run(lanes);
    return runner_logits_;
  }
  const at::Tensor code = model_.fast().embed(code0, model_.dtype(), model_.device());
  const nn::KvRows rows{0, 2, {}};
  const PassContext pass{*kv_, rows, rope_.rows(0, 2), sdpa_, report_, &cancel};
  return model_.fast().output(
      model_.fast().transformer().forward(at::cat({hidden.to(model_.dtype()), code}), pass));
}

at::Tensor FastPass::next(int64_t codebook, int32_t code, const CancelFlag& cancel) {
  const int64_t position = codebook + 1;
  if (runner_) {
    cancel.check("language model");
    read_row(model_.fast().parts().embeddings, code, runner_->input(0));
    const Lane one = lane(position);
    runner_->run({&one, 1});
    return runner_logits_;
  }
  const at::Tensor x = model_.fast().embed(code, model_.dtype(), model_.device());
  if (!static_x_.defined()) {
    const nn::KvRows rows{position, 1, {}};
    const PassContext pass{*kv_, rows, rope_.rows(position, 1), sdpa_, report_, &cancel};
    return model_.fast().output(model_.fast().transformer().forward(x, pass));
  }
  static_x_.copy_(x);
  static_position_.fill_(position);
  cancel.check("language model");
  graph_.run([&] {
    const nn::KvRows rows{position, 1, static_position_};
    const PassContext pass{*kv_, rows, rope_.row_at(static_position_), sdpa_, report_, nullptr};
    static_logits_ = model_.fast().output(model_.fast().transformer().forward(static_x_, pass));
  });
  return static_logits_;
}

}  // namespace remora::lm
