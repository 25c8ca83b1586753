// One session's runs of the slow model: its cache, its rotary table, its captured step.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "base/cancel.h"
#include "lm/cpu_runner.h"
#include "lm/language_model.h"
#include "lm/slow.h"
#include "nn/kv_cache.h"
#include "nn/rope.h"
#include "nn/step_graph.h"

namespace remora::lm {

// Whether decode steps run in one go on the CPU: see CpuRunner.
bool one_go_applies(const LanguageModel& model, nn::KvMode mode, nn::SdpaPolicy sdpa);
// A tensor over memory that stays where it is.
at::Tensor tensor_over(std::span<const float> values);

// Not thread-safe.
class SlowPass {
 public:
  // Throws what make_kv_cache() and check_sdpa() throw.
  // `pool` is borrowed; where the CPU's one-go step does not apply, steps go through LibTorch.
  SlowPass(const LanguageModel& model, nn::KvMode mode, nn::SdpaPolicy sdpa, int64_t capacity,
           nn::ThreadPool& pool);

  // Runs whole columns at positions start, start + 1, ...; room must have been reserved. Returns
  // the outputs at the last one. `cancel` is checked before each block; after a throw the
  // positions from `start` on hold nothing of use.
  SlowOutput prefill(std::span<const int32_t> columns, int64_t start, const CancelFlag& cancel);
  // The same for one column, by the step path.
  SlowOutput step(std::span<const int32_t> column, int64_t position, const CancelFlag& cancel);

  // For steps of several sessions together (decoder_batch.cpp): where this one's vector goes, and
  // its outputs from elsewhere. Only where one_go_applies().
  Lane lane(int64_t position);
  SlowOutput adopt(std::span<const float> logits, std::span<const float> hidden);

  // Positions from `count` on are not used any more. `held`: how many there were.
  void keep(int64_t count, int64_t held);

  nn::KvCache& kv() { return *kv_; }
  const nn::KvCache& kv() const { return *kv_; }
  nn::SdpaPolicy prefill_backend() const { return prefill_report_.backend; }
  nn::SdpaPolicy step_backend() const { return step_report_.backend; }
  uint64_t graph_captures() const { return graph_.captures(); }

 private:
  // What a captured step reads and writes: the same memory each time.
  struct Static {
    at::Tensor x;         // [1, dim]
    at::Tensor position;  // [1] int64
    SlowOutput out;
  };
  SlowOutput one_go_step(std::span<const int32_t> column, int64_t position);
  SlowOutput static_step(const at::Tensor& x, int64_t position, const CancelFlag& cancel);

  const LanguageModel& model_;
  nn::SdpaPolicy sdpa_;
  std::unique_ptr<nn::KvCache> kv_;
  nn::RopeCache rope_;
  nn::SdpaReport prefill_report_, step_report_;
  std::optional<CpuRunner> runner_;
  SlowOutput runner_out_;  // views of the runner's outputs
  Static static_;
  nn::StepGraph graph_;
  int64_t written_ = 0;  // positions that passes have reached, failed ones included
};

}  // namespace remora::lm
