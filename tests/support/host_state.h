// The process-wide state that belongs to the host, LibTorch's and the C library's: what the library
// must leave as it was.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/equal.h>
#include <c10/core/DefaultDtype.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <cfenv>
#include <clocale>
#include <csignal>
#include <string>
#include <vector>

namespace remora::test {

struct HostState {
  std::vector<bool> switches;
  int threads = 0;
  caffe2::TypeMeta dtype;
  at::Tensor generator;  // the default generator's state, bytes
  std::string locale;
  std::vector<void (*)(int)> signal_handlers;
  int rounding = 0;
  bool flush_denormals = false;

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
    state.locale = std::setlocale(LC_ALL, nullptr);
    for (const int signal : {SIGABRT, SIGFPE, SIGINT, SIGSEGV, SIGTERM}) {
      const auto handler = std::signal(signal, SIG_DFL);  // there is no other way to ask
      std::signal(signal, handler);
      state.signal_handlers.push_back(handler);
    }
    state.rounding = std::fegetround();
    state.flush_denormals = is_flushing_denormals();
    return state;
  }

 private:
  static bool is_flushing_denormals() {
    volatile float least = 1e-38F;
    least = least / 64;
    return least == 0;
  }
};

inline void expect_same_host(const HostState& before, const char* when) {
  const HostState after = HostState::now();
  EXPECT_EQ(after.switches, before.switches) << when;
  EXPECT_EQ(after.threads, before.threads) << when;
  EXPECT_EQ(after.dtype, before.dtype) << when;
  EXPECT_TRUE(at::equal(after.generator, before.generator)) << when;
  EXPECT_EQ(after.locale, before.locale) << when;
  EXPECT_EQ(after.signal_handlers, before.signal_handlers) << when;
  EXPECT_EQ(after.rounding, before.rounding) << when;
  EXPECT_EQ(after.flush_denormals, before.flush_denormals) << when;
}

}  // namespace remora::test
