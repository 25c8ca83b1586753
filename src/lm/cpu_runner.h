// A decode step on the CPU in one go: every thread walks through all layers, and they meet five
// times a layer. Allocates nothing once its buffers have grown.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lm/cpu_plan.h"
#include "nn/cpu/quantised_buffer.h"
#include "nn/kv_cache.h"
#include "nn/thread_pool.h"

namespace remora::lm {

// One session's runs of one plan. Not thread-safe. Numbers do not depend on the pool's size: each
// is computed by one thread, in one order.
class CpuRunner {
 public:
  // Both are borrowed.
  CpuRunner(const CpuPlan& plan, nn::ThreadPool& pool);

  // Vectors that go through at once.
  static constexpr int kMaxVectors = 2;

  // Input vector `index` (0 .. kMaxVectors - 1), to be filled before run(): [dim].
  std::span<float> input(int index);

  // Runs the inputs 0 .. count - 1 at positions start .. start + count - 1, for which `kv` has
  // room. rope: [count][head_dim / 2][cos, sin]. The outputs are of the last input.
  void run(int count, int64_t start, nn::KvCache& kv, const float* rope);

  std::span<const float> logits() const { return logits_span_; }  // [head rows]
  std::span<const float> hidden() const { return hidden_span_; }  // [dim handed on]

 private:
  struct Worker {
    Worker(const CpuPlan& plan);
    std::vector<std::vector<float>> vectors;  // normed inputs, one each
    std::vector<nn::cpu::QuantisedBuffer> quantised;
    std::vector<float> scores;  // [groups * positions]
  };
  struct Rows {
    int64_t begin, end;
  };

  static void job(void* self, int thread, nn::ThreadPool& pool);
  void work(int thread);
  void attention_part(const CpuLayer& layer, size_t index, int thread);
  void attend_head(const CpuLayer& layer, size_t index, int64_t kv_head, Worker& worker);
  void rotate(float* head, const std::vector<float>& norm, const float* rope) const;
  void feed_forward_part(const CpuLayer& layer, int thread);
  void output_part(int thread);
  // Rows of `view` that this thread computes.
  Rows share(const nn::cpu::MatrixView& view, int thread) const;
  // y = view * x for this thread's rows; x: one pointer an input, quantised here if need be.
  void multiply(const nn::cpu::MatrixView& view, const float* const* x, float* const* y,
                int thread);
  void add_to_input(const std::vector<std::vector<float>>& y, const nn::cpu::MatrixView& view,
                    int thread);
  // Every thread normalises for itself: cheaper than meeting once more.
  void normalise(const std::vector<float>& weight, Worker& worker, const float** out);

  const CpuPlan& plan_;
  nn::ThreadPool& pool_;
  const nn::cpu::Kernels& kernels_;
  std::vector<Worker> workers_;
  std::vector<std::vector<float>> x_, qkv_, mixed_, gate_, up_, delta_;  // per input
  std::vector<float> logits_, hidden_;
  std::span<const float> logits_span_, hidden_span_;
  // Of the run in progress.
  int count_ = 0;
  int64_t start_ = 0;
  const float* rope_ = nullptr;
  std::vector<nn::RawKv> kv_;  // per layer
  bool kv_bf16_ = false;
};

}  // namespace remora::lm
