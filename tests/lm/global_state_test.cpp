// The host may use LibTorch too: nothing of its process-wide state may move.
#include <ATen/Context.h>
#include <gtest/gtest.h>

#include "lm/tiny_model.h"
#include "support/host_state.h"

namespace remora::lm {
namespace {

using test::expect_same_host;

TEST(HostState, RB_40_IsTheSameAfterLoadRunAndDestroy) {
  at::globalContext().setSDPUseFlash(false);  // as a host might have it
  const auto before = test::HostState::now();
  {
    const test::TinyModel tiny("s2pro");
    expect_same_host(before, "load");
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
        expect_same_host(before, "run");
      }
    }
  }
  expect_same_host(before, "destroy");
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
