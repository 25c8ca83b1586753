#include "lm/cpu_runner.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace remora::lm {

using nn::cpu::kBlockRows;
using nn::cpu::MatrixView;

CpuRunner::Worker::Worker(const CpuPlan& plan) {
  for (int i = 0; i < kMaxVectors; ++i) {
    vectors.emplace_back(static_cast<size_t>(plan.config.dim));
    quantised.emplace_back(plan.widest());
  }
}

CpuRunner::CpuRunner(const CpuPlan& plan, nn::ThreadPool& pool)
    : plan_(plan), pool_(pool), kernels_(nn::cpu::best_kernels()), kv_(plan.layers.size()) {
  for (int i = 0; i < pool.size(); ++i) workers_.emplace_back(plan);
  const auto width = static_cast<size_t>(plan.widest());
  for (auto* buffer : {&x_, &qkv_, &mixed_, &gate_, &up_, &delta_}) {
    buffer->assign(kMaxVectors, std::vector<float>(width));
  }
  logits_.resize(width);
  hidden_.resize(static_cast<size_t>(plan.project ? plan.project->padded_rows() : plan.config.dim));
  logits_span_ = std::span(logits_).first(static_cast<size_t>(plan.head.rows));
  hidden_span_ = std::span(hidden_).first(
      static_cast<size_t>(plan.project ? plan.project->rows : plan.config.dim));
}

std::span<float> CpuRunner::input(int index) {
  return std::span(x_[static_cast<size_t>(index)]).first(static_cast<size_t>(plan_.config.dim));
}

void CpuRunner::run(int count, int64_t start, nn::KvCache& kv, const float* rope) {
  count_ = count;
  start_ = start;
  rope_ = rope;
  kv_bf16_ = kv.shape().dtype == at::kBFloat16;
  for (size_t layer = 0; layer < kv_.size(); ++layer) {
    kv_[layer] = kv.raw(static_cast<int64_t>(layer), {start, count, {}});
  }
  const auto groups = static_cast<size_t>(plan_.config.heads / plan_.config.kv_heads);
  const size_t wanted = groups * static_cast<size_t>(start + count);
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

CpuRunner::Rows CpuRunner::share(const MatrixView& view, int thread) const {
  const int64_t blocks = view.padded_rows() / kBlockRows, threads = pool_.size();
  const int64_t begin = blocks * thread / threads * kBlockRows;
  const int64_t end = blocks * (thread + 1) / threads * kBlockRows;
  return {begin, view.quantised() ? end : std::min(end, view.rows)};
}

void CpuRunner::multiply(const MatrixView& view, const float* const* x, float* const* y,
                         int thread) {
  Worker& worker = workers_[static_cast<size_t>(thread)];
  nn::cpu::Input inputs[kMaxVectors];
  for (int i = 0; i < count_; ++i) {
    inputs[i].floats = x[i];
    inputs[i].quantised = worker.quantised[static_cast<size_t>(i)].view();
    if (view.quantised()) {
      kernels_.quantise(x[i], view.cols, view.padded_cols(), inputs[i].quantised);
    }
  }
  const Rows rows = share(view, thread);
  if (rows.begin < rows.end) {
    kernels_.gemv(view, inputs, count_, rows.begin, rows.end, y);
  }
}

namespace {

template <typename Vectors>
void pointers(Vectors& vectors, float** out) {
  for (size_t i = 0; i < vectors.size(); ++i) out[i] = vectors[i].data();
}

}  // namespace

void CpuRunner::normalise(const std::vector<float>& weight, Worker& worker, const float** out) {
  for (int i = 0; i < count_; ++i) {
    const auto at = static_cast<size_t>(i);
    kernels_.rms_norm(x_[at].data(), weight.data(), plan_.config.dim, plan_.norm_eps,
                      worker.vectors[at].data());
    out[i] = worker.vectors[at].data();
  }
}

void CpuRunner::add_to_input(const std::vector<std::vector<float>>& y, const MatrixView& view,
                             int thread) {
  const Rows rows = share(view, thread);
  for (int i = 0; i < count_; ++i) {
    float* x = x_[static_cast<size_t>(i)].data();
    const float* add = y[static_cast<size_t>(i)].data();
    for (int64_t r = rows.begin; r < std::min(rows.end, view.rows); ++r) x[r] += add[r];
  }
}

void CpuRunner::attention_part(const CpuLayer& layer, size_t index, int thread) {
  Worker& worker = workers_[static_cast<size_t>(thread)];
  const float* in[kMaxVectors];
  float* out[kMaxVectors];
  normalise(layer.attention_norm, worker, in);
  pointers(qkv_, out);
  multiply(layer.wqkv, in, out, thread);
  pool_.barrier();
  for (int64_t head = thread; head < plan_.config.kv_heads; head += pool_.size()) {
    attend_head(layer, index, head, worker);
  }
  pool_.barrier();
  for (int i = 0; i < count_; ++i) in[i] = mixed_[static_cast<size_t>(i)].data();
  pointers(delta_, out);
  multiply(layer.wo, in, out, thread);
  add_to_input(delta_, layer.wo, thread);
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

void CpuRunner::attend_head(const CpuLayer& layer, size_t index, int64_t kv_head, Worker& worker) {
  const StackConfig& config = plan_.config;
  const int64_t dim = config.head_dim, groups = config.heads / config.kv_heads;
  const nn::RawKv& raw = kv_[index];
  const int64_t element = kv_bf16_ ? 2 : 4;
  char* keys = static_cast<char*>(raw.keys) + kv_head * raw.head_stride * element;
  char* values = static_cast<char*>(raw.values) + kv_head * raw.head_stride * element;
  const float scale = 1.0F / std::sqrt(static_cast<float>(dim));
  for (int i = 0; i < count_; ++i) {
    float* qkv = qkv_[static_cast<size_t>(i)].data();
    float* q = qkv + kv_head * groups * dim;
    float* k = qkv + (config.heads + kv_head) * dim;
    const float* v = qkv + (config.heads + config.kv_heads + kv_head) * dim;
    const float* rope = rope_ + i * dim;
    rotate(k, layer.k_norm, rope);
    for (int64_t g = 0; g < groups; ++g) rotate(q + g * dim, layer.q_norm, rope);
    const int64_t offset = (start_ + i) * dim * element;
    if (kv_bf16_) {
      kernels_.to_bf16(k, dim, reinterpret_cast<uint16_t*>(keys + offset));
      kernels_.to_bf16(v, dim, reinterpret_cast<uint16_t*>(values + offset));
    } else {
      std::memcpy(keys + offset, k, static_cast<size_t>(dim) * sizeof(float));
      std::memcpy(values + offset, v, static_cast<size_t>(dim) * sizeof(float));
    }
    kernels_.attend(q, {keys, values, kv_bf16_}, groups, start_ + i + 1, dim, scale,
                    worker.scores.data(),
                    mixed_[static_cast<size_t>(i)].data() + kv_head * groups * dim);
  }
}

void CpuRunner::feed_forward_part(const CpuLayer& layer, int thread) {
  Worker& worker = workers_[static_cast<size_t>(thread)];
  const float* in[kMaxVectors];
  float *gate[kMaxVectors], *up[kMaxVectors], *out[kMaxVectors];
  normalise(layer.ffn_norm, worker, in);
  pointers(gate_, gate);
  pointers(up_, up);
  multiply(layer.w1, in, gate, thread);
  multiply(layer.w3, in, up, thread);
  const Rows rows = share(layer.w1, thread);
  for (int i = 0; i < count_; ++i) {
    kernels_.silu_mul(gate[i] + rows.begin, up[i] + rows.begin,
                      std::min(rows.end, layer.w1.rows) - rows.begin);
  }
  pool_.barrier();
  for (int i = 0; i < count_; ++i) in[i] = gate[i];
  pointers(delta_, out);
  multiply(layer.w2, in, out, thread);
  add_to_input(delta_, layer.w2, thread);
  pool_.barrier();
}

void CpuRunner::output_part(int thread) {
  const auto last = static_cast<size_t>(count_ - 1);
  const int64_t dim = plan_.config.dim;
  Worker& worker = workers_[static_cast<size_t>(thread)];
  float* normed = worker.vectors[0].data();
  kernels_.rms_norm(x_[last].data(), plan_.final_norm.data(), dim, plan_.norm_eps, normed);
  nn::cpu::Input in{normed, worker.quantised[0].view()};
  const auto one = [&](const MatrixView& view, const float* x, float* y) {
    in.floats = x;
    if (view.quantised()) kernels_.quantise(x, view.cols, view.padded_cols(), in.quantised);
    const Rows rows = share(view, thread);
    if (rows.begin < rows.end) kernels_.gemv(view, &in, 1, rows.begin, rows.end, &y);
  };
  one(plan_.head, normed, logits_.data());
  const float* handed_on = plan_.normed_hidden ? normed : x_[last].data();
  if (plan_.project) {
    one(*plan_.project, handed_on, hidden_.data());
  } else if (thread == 0) {
    std::copy_n(handed_on, dim, hidden_.begin());
  }
}

}  // namespace remora::lm
