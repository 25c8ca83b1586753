// The host may use LibTorch too: nothing of its process-wide state may move.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <vector>

#include "lm/tiny_model.h"

namespace remora::lm {
namespace {

struct HostState {
  std::vector<bool> switches;
  int threads = 0;
  caffe2::TypeMeta dtype;
  at::Tensor generator;

  static HostState now() {
    at::Context& context = at::globalContext();
    HostState state;
    state.switches = {context.userEnabledFlashSDP(),   context.userEnabledMemEfficientSDP(),
                      context.userEnabledMathSDP(),    context.userEnabledCuDNNSDP(),
                      context.userEnabledMkldnn(),     context.deterministicAlgorithms(),
                      context.benchmarkCuDNN(),        at::GradMode::is_enabled(),
                      c10::InferenceMode::is_enabled()};
    state.threads = at::get_num_threads();
    state.dtype = c10::get_default_dtype();
    state.generator = at::detail::getDefaultCPUGenerator().get_state();
    return state;
  }
};

void expect_same(const HostState& before, const char* when) {
  const HostState after = HostState::now();
  EXPECT_EQ(after.switches, before.switches) << when;
  EXPECT_EQ(after.threads, before.threads) << when;
  EXPECT_EQ(after.dtype, before.dtype) << when;
  EXPECT_TRUE(at::equal(after.generator, before.generator)) << when;
}

TEST(HostState, IsTheSameAfterLoadRunAndDestroy) {
  at::globalContext().setSDPUseFlash(false);  // as a host might have it
  const HostState before = HostState::now();
  {
    const test::TinyModel tiny("s2pro");
    expect_same(before, "load");
    for (const nn::KvMode mode :
         {nn::KvMode::kActivePrefix, nn::KvMode::kFull, nn::KvMode::kGraph}) {
      for (const nn::SdpaPolicy sdpa :
           {nn::SdpaPolicy::kAuto, nn::SdpaPolicy::kMath, nn::SdpaPolicy::kFlash}) {
        DecoderOptions options;
        options.capacity = 128;
        options.kv_mode = mode;
        options.sdpa = sdpa;
        Decoder decoder(tiny.model, options);
        decoder.set_sampling({}, 42);
        decoder.prefill(tiny.columns("ascii.b0.prompt"), CancelFlag());
        test::run_frames(decoder, 3);
        decoder.load(decoder.save());
        expect_same(before, "run");
      }
    }
  }
  expect_same(before, "destroy");
  at::globalContext().setSDPUseFlash(true);
}

TEST(HostState, AnExplicitBackendRunsWhateverTheHostsSwitchesSay) {
  at::globalContext().setSDPUseFlash(false);
  const test::TinyModel tiny("s2pro");
  const auto backend = [&](nn::SdpaPolicy sdpa) {
    DecoderOptions options;
    options.sdpa = sdpa;
    Decoder decoder(tiny.model, options);
    decoder.prefill(tiny.columns("ascii.b0.prompt"), CancelFlag());
    return decoder.stats().sdpa_prefill;
  };
  EXPECT_EQ(backend(nn::SdpaPolicy::kFlash), nn::SdpaPolicy::kFlash);
  EXPECT_EQ(backend(nn::SdpaPolicy::kAuto), nn::SdpaPolicy::kMath) << "LibTorch's own choice";
  at::globalContext().setSDPUseFlash(true);
}

}  // namespace
}  // namespace remora::lm
