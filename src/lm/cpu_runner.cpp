#include "lm/cpu_runner.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace remora::lm {

using nn::cpu::kBlockRows;
using nn::cpu::MatrixView;

CpuRunner::Worker::Worker(const CpuPlan& plan, size_t lanes) {
  for (size_t i = 0; i < lanes; ++i) {
    vectors.emplace_back(static_cast<size_t>(plan.config.dim));
    quantised.emplace_back(plan.widest());
  }
  inputs.resize(lanes);
}

CpuRunner::CpuRunner(const CpuPlan& plan, nn::ThreadPool& pool, size_t lanes)
    : plan_(plan), pool_(pool), kernels_(nn::cpu::best_kernels()) {
  for (int i = 0; i < pool.size(); ++i) workers_.emplace_back(plan, lanes);
  const auto width = static_cast<size_t>(plan.widest());
  for (auto* buffer : {&x_, &qkv_, &mixed_, &gate_, &up_, &delta_, &logits_}) {
    buffer->assign(lanes, std::vector<float>(width));
  }
  hidden_.assign(lanes, std::vector<float>(static_cast<size_t>(
                            plan.project ? plan.project->padded_rows() : plan.config.dim)));
  kv_.resize(plan.layers.size() * lanes);
}

std::span<float> CpuRunner::input(size_t lane) {
  return std::span(x_[lane]).first(static_cast<size_t>(plan_.config.dim));
}

std::span<const float> CpuRunner::logits(size_t output) const {
  return std::span(logits_[output]).first(static_cast<size_t>(plan_.head.rows));
}

std::span<const float> CpuRunner::hidden(size_t output) const {
  return std::span(hidden_[output])
      .first(static_cast<size_t>(plan_.project ? plan_.project->rows : plan_.config.dim));
}

void CpuRunner::adopt(std::span<const float> logits, std::span<const float> hidden) {
  std::copy(logits.begin(), logits.end(), logits_[0].begin());
  std::copy(hidden.begin(), hidden.end(), hidden_[0].begin());
}

void CpuRunner::run(std::span<const Lane> lanes) {
  lanes_ = lanes;
  kv_bf16_ = lanes.front().kv->shape().dtype == at::kBFloat16;
  for (size_t layer = 0; layer < plan_.layers.size(); ++layer) {
    for (size_t i = 0; i < lanes.size(); ++i) {
      kv_[layer * lanes.size() + i] =
          lanes[i].kv->raw(static_cast<int64_t>(layer), {lanes[i].position, 1, {}});
    }
  }
  int64_t positions = 0;
  for (const Lane& lane : lanes) positions = std::max(positions, lane.position + 1);
  const auto wanted = static_cast<size_t>(plan_.config.heads / plan_.config.kv_heads * positions);
  for (Worker& worker : workers_) {
    // By half as much again, so that growth costs O(1) a position.
    if (worker.scores.size() < wanted) worker.scores.resize(wanted + wanted / 2);
  }
  pool_.run(&CpuRunner::job, this);
}

void CpuRunner::job(void* self, int thread, nn::ThreadPool& /*pool*/) {
  static_cast<CpuRunner*>(self)->work(thread);
}

void CpuRunner::work(int thread) {
  for (size_t i = 0; i < plan_.layers.size(); ++i) {
    attention_part(plan_.layers[i], i, thread);
    feed_forward_part(plan_.layers[i], thread);
  }
  output_part(thread);
}

template <typename Use>
void CpuRunner::share(const MatrixView& view, Use&& use) {
  // One thread has nothing to take turns for.
  const int64_t parts = pool_.size() == 1 ? 1 : pool_.size() * kPartsPerThread;
  const int64_t blocks = view.padded_rows() / kBlockRows, count = std::min(parts, blocks);
  for (int64_t part = pool_.claim(); part < count; part = pool_.claim()) {
    const int64_t end = blocks * (part + 1) / count * kBlockRows;
    use(Rows{blocks * part / count * kBlockRows,
             view.quantised() ? end : std::min(end, view.rows)});
  }
}

const nn::cpu::Input* CpuRunner::inputs(const MatrixView& view, std::span<const float* const> x,
                                        Worker& worker) {
  for (size_t i = 0; i < x.size(); ++i) {
    worker.inputs[i] = {x[i], worker.quantised[i].view()};
    if (view.quantised()) {
      kernels_.quantise(x[i], view.cols, view.padded_cols(), worker.inputs[i].quantised);
    }
  }
  return worker.inputs.data();
}

void CpuRunner::multiply(const MatrixView& view, const nn::cpu::Input* inputs, size_t count,
                         float* const* y, Rows rows) const {
  // Rows that stay in the core's own cache until every group of vectors has read them.
  constexpr int64_t kTileRows = 4 * kBlockRows;
  constexpr auto kAtOnce = static_cast<size_t>(nn::cpu::kMaxVectors);
  const int64_t tile = count <= kAtOnce ? rows.end - rows.begin : kTileRows;
  for (int64_t row = rows.begin; row < rows.end; row += tile) {
    for (size_t first = 0; first < count; first += kAtOnce) {
      const auto n = static_cast<int>(std::min(count - first, kAtOnce));
      kernels_.gemv(view, inputs + first, n, row, std::min(row + tile, rows.end), y + first);
    }
  }
}

namespace {

template <typename Vectors>
void pointers(Vectors& vectors, float** out) {
  for (size_t i = 0; i < vectors.size(); ++i) out[i] = vectors[i].data();
}

}  // namespace

void CpuRunner::normalise(const std::vector<float>& weight, Worker& worker, const float** out) {
  for (size_t i = 0; i < lanes_.size(); ++i) {
    kernels_.rms_norm(x_[i].data(), weight.data(), plan_.config.dim, plan_.norm_eps,
                      worker.vectors[i].data());
    out[i] = worker.vectors[i].data();
  }
}

void CpuRunner::multiply_onto_input(const MatrixView& view, const Vectors& x, int thread) {
  const float* in[kMaxLanes];
  float* out[kMaxLanes];
  for (size_t i = 0; i < lanes_.size(); ++i) in[i] = x[i].data();
  pointers(delta_, out);
  const nn::cpu::Input* input =
      inputs(view, {in, lanes_.size()}, workers_[static_cast<size_t>(thread)]);
  share(view, [&](Rows rows) {
    multiply(view, input, lanes_.size(), out, rows);
    for (size_t i = 0; i < lanes_.size(); ++i) {
      for (int64_t r = rows.begin; r < std::min(rows.end, view.rows); ++r) x_[i][r] += out[i][r];
    }
  });
}

void CpuRunner::attention_part(const CpuLayer& layer, size_t index, int thread) {
  Worker& worker = workers_[static_cast<size_t>(thread)];
  const float* in[kMaxLanes];
  float* out[kMaxLanes];
  normalise(layer.attention_norm, worker, in);
  pointers(qkv_, out);
  const nn::cpu::Input* input = inputs(layer.wqkv, {in, lanes_.size()}, worker);
  share(layer.wqkv, [&](Rows rows) { multiply(layer.wqkv, input, lanes_.size(), out, rows); });
  pool_.barrier();
  const int64_t heads = plan_.config.kv_heads;
  for (int64_t head = pool_.claim(); head < heads; head = pool_.claim()) {
    for (size_t i = 0; i < lanes_.size(); ++i) attend_head(layer, index, i, head, worker);
  }
  pool_.barrier();
  multiply_onto_input(layer.wo, mixed_, thread);
  pool_.barrier();
}

void CpuRunner::rotate(float* head, const std::vector<float>& norm, const float* rope) const {
  const int64_t dim = plan_.config.head_dim;
  if (!norm.empty()) kernels_.rms_norm(head, norm.data(), dim, plan_.norm_eps, head);
  for (int64_t i = 0; i < dim; i += 2) {
    const float a = head[i], b = head[i + 1], cos = rope[i], sin = rope[i + 1];
    head[i] = a * cos - b * sin;
    head[i + 1] = b * cos + a * sin;
  }
}

void CpuRunner::attend_head(const CpuLayer& layer, size_t index, size_t lane, int64_t kv_head,
                            Worker& worker) {
  const StackConfig& config = plan_.config;
  const int64_t dim = config.head_dim, groups = config.heads / config.kv_heads;
  const int64_t position = lanes_[lane].position;
  const nn::RawKv& raw = kv_[index * lanes_.size() + lane];
  const int64_t element = kv_bf16_ ? 2 : 4;
  char* keys = static_cast<char*>(raw.keys) + kv_head * raw.head_stride * element;
  char* values = static_cast<char*>(raw.values) + kv_head * raw.head_stride * element;
  float* qkv = qkv_[lane].data();
  float* q = qkv + kv_head * groups * dim;
  float* k = qkv + (config.heads + kv_head) * dim;
  const float* v = qkv + (config.heads + config.kv_heads + kv_head) * dim;
  rotate(k, layer.k_norm, lanes_[lane].rope);
  for (int64_t g = 0; g < groups; ++g) rotate(q + g * dim, layer.q_norm, lanes_[lane].rope);
  const int64_t offset = position * dim * element;
  if (kv_bf16_) {
    kernels_.to_bf16(k, dim, reinterpret_cast<uint16_t*>(keys + offset));
    kernels_.to_bf16(v, dim, reinterpret_cast<uint16_t*>(values + offset));
  } else {
    std::memcpy(keys + offset, k, static_cast<size_t>(dim) * sizeof(float));
    std::memcpy(values + offset, v, static_cast<size_t>(dim) * sizeof(float));
  }
  const float scale = 1.0F / std::sqrt(static_cast<float>(dim));
  kernels_.attend(q, {keys, values, kv_bf16_}, groups, position + 1, dim, scale,
                  worker.scores.data(), mixed_[lane].data() + kv_head * groups * dim);
}

void CpuRunner::feed_forward_part(const CpuLayer& layer, int thread) {
  Worker& worker = workers_[static_cast<size_t>(thread)];
  const float* in[kMaxLanes];
  float *gate[kMaxLanes], *up[kMaxLanes];
  normalise(layer.ffn_norm, worker, in);
  pointers(gate_, gate);
  pointers(up_, up);
  const nn::cpu::Input* input = inputs(layer.w1, {in, lanes_.size()}, worker);
  share(layer.w1, [&](Rows rows) {
    multiply(layer.w1, input, lanes_.size(), gate, rows);
    multiply(layer.w3, input, lanes_.size(), up, rows);
    for (size_t i = 0; i < lanes_.size(); ++i) {
      kernels_.silu_mul(gate[i] + rows.begin, up[i] + rows.begin,
                        std::min(rows.end, layer.w1.rows) - rows.begin);
    }
  });
  pool_.barrier();
  multiply_onto_input(layer.w2, gate_, thread);
  pool_.barrier();
}

void CpuRunner::output_part(int thread) {
  const int64_t dim = plan_.config.dim;
  Worker& worker = workers_[static_cast<size_t>(thread)];
  const float *normed[kMaxLanes], *handed_on[kMaxLanes];
  float *logits[kMaxLanes], *hidden[kMaxLanes];
  size_t outputs = 0;
  for (size_t i = 0; i < lanes_.size(); ++i) {
    if (!lanes_[i].output) continue;
    float* own = worker.vectors[outputs].data();
    kernels_.rms_norm(x_[i].data(), plan_.final_norm.data(), dim, plan_.norm_eps, own);
    normed[outputs] = own;
    handed_on[outputs++] = plan_.normed_hidden ? own : x_[i].data();
  }
  pointers(logits_, logits);
  pointers(hidden_, hidden);
  const nn::cpu::Input* input = inputs(plan_.head, {normed, outputs}, worker);
  share(plan_.head, [&](Rows rows) { multiply(plan_.head, input, outputs, logits, rows); });
  if (plan_.project) {
    pool_.barrier();
    input = inputs(*plan_.project, {handed_on, outputs}, worker);
    share(*plan_.project,
          [&](Rows rows) { multiply(*plan_.project, input, outputs, hidden, rows); });
  } else if (thread == 0) {
    for (size_t i = 0; i < outputs; ++i) std::copy_n(handed_on[i], dim, hidden[i]);
  }
}

}  // namespace remora::lm
