// Time of one layer's attention step at S2-Pro's shapes (32 query heads, 8 key heads of 128), for
// docs/attention.md, on the CPU and on a GPU where LibTorch has one. Storing the new row is
// included.
//   attention_bench --benchmark_repetitions=5 --benchmark_report_aggregates_only
// Names read KV mode / backend / kv_len / capacity / dtype / device.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <benchmark/benchmark.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <string>

#include "nn/kv_cache.h"

namespace {

using remora::nn::KvMode;
using remora::nn::KvRows;
using remora::nn::SdpaPolicy;

constexpr int64_t kHeads = 32;
constexpr int64_t kKvHeads = 8;
constexpr int64_t kHeadDim = 128;
constexpr int64_t kPrefillRows = 256;  // as a prefill stores them

struct Case {
  KvMode mode;
  SdpaPolicy policy;
  int64_t kv_len;
  int64_t capacity;
  at::ScalarType dtype;
  at::Device device;

  std::string name() const {
    const char* kv = mode == KvMode::kFull ? "full" : mode == KvMode::kGraph ? "graph" : "active";
    return std::string(kv) + "/" + std::string(remora::nn::sdpa_name(policy)) + "/" +
           std::to_string(kv_len) + "/" + std::to_string(capacity) + "/" + c10::toString(dtype) +
           "/" + device.str();
  }
};

void wait_for(at::Device device) {
  if (!device.is_cpu()) {
    c10::impl::VirtualGuardImpl(device.type()).synchronizeDevice(device.index());
  }
}

void attend(benchmark::State& state, const Case& c) {
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(1);
  const auto random = [&](int64_t heads, int64_t rows) {
    return at::randn({heads, rows, kHeadDim}, generator, at::kFloat).to(c.device, c.dtype);
  };
  const auto cache = remora::nn::make_kv_cache(c.mode, {1, kKvHeads, kHeadDim, c.dtype, c.device},
                                               c.capacity, c.capacity);
  cache->reserve(c.kv_len);
  const at::Tensor past = random(kKvHeads, kPrefillRows);  // [kv_heads, rows, head_dim]
  for (int64_t at = 0; at < c.kv_len; at += kPrefillRows) {
    const int64_t rows = std::min(kPrefillRows, c.kv_len - at);
    cache->write(0, past.narrow(1, 0, rows), past.narrow(1, 0, rows), {at, rows, {}});
  }
  const at::Tensor q = random(kHeads, 1);    // [heads, 1, head_dim]
  const at::Tensor k = random(kKvHeads, 1);  // [kv_heads, 1, head_dim]
  const at::Tensor v = random(kKvHeads, 1);
  KvRows rows{c.kv_len - 1, 1, {}};
  if (c.mode == KvMode::kGraph) {
    rows.device_start =
        at::full({1}, c.kv_len - 1, at::TensorOptions().dtype(at::kLong).device(c.device));
  }
  remora::nn::SdpaReport report;
  for (auto _ : state) {
    benchmark::DoNotOptimize(cache->attend(0, q, k, v, rows, c.policy, report));
    wait_for(c.device);
  }
  state.SetLabel("ran " + std::string(remora::nn::sdpa_name(report.backend)));
}

void add(const Case& c) {
  benchmark::RegisterBenchmark(c.name().c_str(), [c](benchmark::State& state) { attend(state, c); })
      ->Unit(benchmark::kMillisecond)
      ->UseRealTime();
}

void add_device(at::Device device, at::ScalarType dtype) {
  constexpr int64_t kLargest = 32768;
  std::vector<SdpaPolicy> policies = {SdpaPolicy::kMath, SdpaPolicy::kFlash};
  if (device.is_cuda()) policies.push_back(SdpaPolicy::kEfficient);
  // What a backend costs by length.
  for (const SdpaPolicy policy : policies) {
    for (const int64_t kv_len : {256, 1024, 4096, 32768}) {
      add({KvMode::kActivePrefix, policy, kv_len, kLargest, dtype, device});
    }
  }
  // What the mode costs at one prefix.
  for (const int64_t capacity : {512, 4096, 32768}) {
    add({KvMode::kActivePrefix, SdpaPolicy::kAuto, 235, capacity, dtype, device});
    add({KvMode::kGraph, SdpaPolicy::kMath, 235, capacity, dtype, device});
    add({KvMode::kFull, SdpaPolicy::kMath, 235, capacity, dtype, device});
  }
}

}  // namespace

int main(int argc, char** argv) {
  add_device(at::kCPU, at::kBFloat16);
  add_device(at::kCPU, at::kFloat);
  if (at::globalContext().hasCUDA()) add_device(at::Device(at::kCUDA, 0), at::kBFloat16);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
