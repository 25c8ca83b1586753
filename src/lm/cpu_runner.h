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

// One vector of a run, and where it stands.
struct Lane {
  nn::KvCache* kv = nullptr;  // of its session; has room for `position`
  int64_t position = 0;
  const float* rope = nullptr;  // of that position: [head_dim / 2][cos, sin]
  bool output = true;           // logits and hidden vector are wanted
};

// Runs of one plan, for one session or for several at a time. Not thread-safe. Numbers do not
// depend on the pool's size: each is computed by one thread, in one order.
class CpuRunner {
 public:
  // Lanes that may go through at once.
  static constexpr size_t kMaxLanes = 16;

  // Both are borrowed; has room for `lanes` lanes.
  CpuRunner(const CpuPlan& plan, nn::ThreadPool& pool, size_t lanes);

  // Input vector of a lane, to be filled before run(): [dim].
  std::span<float> input(size_t lane);

  // Runs the inputs of as many lanes. Lanes of one cache stand in the order of their positions.
  void run(std::span<const Lane> lanes);

  // Outputs, counted over the lanes that wanted one.
  std::span<const float> logits(size_t output = 0) const;  // [head rows]
  std::span<const float> hidden(size_t output = 0) const;  // [dim handed on]
  // Puts another runner's outputs in the place of the first: for a session that was run there.
  void adopt(std::span<const float> logits, std::span<const float> hidden);

 private:
  using Vectors = std::vector<std::vector<float>>;  // one a lane
  struct Worker {
    Worker(const CpuPlan& plan, size_t lanes);
    Vectors vectors;  // normed inputs
    std::vector<nn::cpu::QuantisedBuffer> quantised;
    std::vector<nn::cpu::Input> inputs;
    std::vector<float> scores;  // [groups * positions]
  };
  struct Rows {
    int64_t begin, end;
  };
  // Parts of a matrix that each thread of several would take, if all were equally fast.
  static constexpr int64_t kPartsPerThread = 4;

  static void job(void* self, int thread, nn::ThreadPool& pool);
  void work(int thread);
  void attention_part(const CpuLayer& layer, size_t index, int thread);
  void attend_head(const CpuLayer& layer, size_t index, size_t lane, int64_t kv_head,
                   Worker& worker);
  void rotate(float* head, const std::vector<float>& norm, const float* rope) const;
  void feed_forward_part(const CpuLayer& layer, int thread);
  void output_part(int thread);
  // Calls use(Rows) for parts of `view` until all are taken by some thread; once between barriers.
  template <typename Use>
  void share(const nn::cpu::MatrixView& view, Use&& use);
  // Vectors as `view` multiplies them; every thread makes its own, which is cheaper than meeting
  // once more. Valid until the next call.
  const nn::cpu::Input* inputs(const nn::cpu::MatrixView& view, std::span<const float* const> x,
                               Worker& worker);
  // y[i] = view * input i, of these rows.
  void multiply(const nn::cpu::MatrixView& view, const nn::cpu::Input* inputs, size_t count,
                float* const* y, Rows rows) const;
  // The residual branch's end: adds view * x to the inputs.
  void multiply_onto_input(const nn::cpu::MatrixView& view, const Vectors& x, int thread);
  // For itself, too.
  void normalise(const std::vector<float>& weight, Worker& worker, const float** out);

  const CpuPlan& plan_;
  nn::ThreadPool& pool_;
  const nn::cpu::Kernels& kernels_;
  std::vector<Worker> workers_;
  Vectors x_, qkv_, mixed_, gate_, up_, delta_;
  Vectors logits_, hidden_;  // one an output
  // Of the run in progress.
  std::span<const Lane> lanes_;
  std::vector<nn::RawKv> kv_;  // [layer][lane]
  bool kv_bf16_ = false;
};

}  // namespace remora::lm
