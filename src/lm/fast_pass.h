// One session's runs of the fast model: the codes of one frame, one after the other.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/cancel.h"
#include "lm/cpu_runner.h"
#include "lm/fast.h"
#include "lm/language_model.h"
#include "nn/kv_cache.h"
#include "nn/rope.h"
#include "nn/step_graph.h"

namespace remora::lm {

// Not thread-safe.
class FastPass {
 public:
  // `pool`: as for SlowPass.
  FastPass(const LanguageModel& model, nn::KvMode mode, nn::SdpaPolicy sdpa, nn::ThreadPool& pool);

  // Starts a frame. hidden: [1, fast dim] float32 from the slow model. Returns the logits of
  // codebook 1: [codes] float32. Both first inputs are known, so they go through in one pass.
  at::Tensor begin(const at::Tensor& hidden, int32_t code0, const CancelFlag& cancel);
  // Feeds the code of codebook `codebook` (1 or more); the logits of the one after it.
  at::Tensor next(int64_t codebook, int32_t code, const CancelFlag& cancel);

  // As SlowPass::lane().
  Lane lane(int64_t position) { return {kv_.get(), position, rope_.data(position, 1)}; }

  // Nothing of earlier frames is left.
  void clear();

  uint64_t graph_captures() const { return graph_.captures(); }

 private:
  const LanguageModel& model_;
  nn::SdpaPolicy sdpa_;
  std::unique_ptr<nn::KvCache> kv_;
  nn::RopeCache rope_;
  nn::SdpaReport report_;
  std::optional<CpuRunner> runner_;
  at::Tensor runner_logits_;                               // view of the runner's output
  at::Tensor static_x_, static_position_, static_logits_;  // kGraph only
  nn::StepGraph graph_;
};

}  // namespace remora::lm
