#include "nn/sdpa.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/softmax.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "nn/attention_probe.h"
#include "support/golden.h"

namespace remora::nn {
namespace {

using test::AttentionProbe;
using test::close;

struct Inputs {
  at::Tensor q, k, v;
};

// Heads in groups of four, from a generator of the test's own.
Inputs inputs(int64_t n, int64_t len, at::ScalarType dtype = at::kFloat) {
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(uint64_t(n * 1000 + len));
  const auto random = [&](int64_t heads, int64_t rows) {
    return at::randn({heads, rows, 32}, generator).to(dtype);
  };
  return {random(8, n), random(2, len), random(2, len)};
}

// The formula, in float64, with keys repeated for every query head.
at::Tensor by_the_formula(const Inputs& in) {
  const int64_t n = in.q.size(1), len = in.k.size(1), groups = in.q.size(0) / in.k.size(0);
  const at::Tensor q = in.q.to(at::kDouble);
  const at::Tensor k = in.k.to(at::kDouble).repeat_interleave(groups, 0);
  const at::Tensor v = in.v.to(at::kDouble).repeat_interleave(groups, 0);
  const at::Tensor scores = at::matmul(q, k.transpose(1, 2)) / std::sqrt(32.0);
  const at::Tensor mask = causal_mask(len - n, n, len, scores.options());
  return at::matmul(at::softmax(scores + mask, -1), v).transpose(0, 1).reshape({n, -1});
}

constexpr SdpaPolicy kCpuPolicies[] = {SdpaPolicy::kAuto, SdpaPolicy::kMath, SdpaPolicy::kFlash};

TEST(Sdpa, GroupedHeadsEqualExpandedOnesForEveryPolicy) {
  for (const auto& [n, len] : {std::pair{1, 1}, {1, 37}, {5, 5}, {4, 37}, {300, 300}}) {
    const Inputs in = inputs(n, len);
    for (const SdpaPolicy policy : kCpuPolicies) {
      SdpaReport report;
      const at::Tensor out = attention(in.q, in.k, in.v, {}, policy, report);
      // float32 sums of up to 300 terms of size 1.
      EXPECT_TRUE(close(out, by_the_formula(in), 1e-6))
          << sdpa_name(policy) << " " << n << " of " << len;
    }
  }
}

TEST(Sdpa, KeysAndValuesAreHandedOverWithoutACopy) {
  for (const int64_t n : {1, 4}) {
    const Inputs in = inputs(n, 37);
    for (const SdpaPolicy policy : kCpuPolicies) {
      AttentionProbe probe;
      SdpaReport report;
      attention(in.q, in.k, in.v, {}, policy, report);
      ASSERT_EQ(probe.calls.size(), 1U);
      EXPECT_EQ(probe.calls[0].k.const_data_ptr(), in.k.const_data_ptr()) << sdpa_name(policy);
      EXPECT_EQ(probe.calls[0].v.const_data_ptr(), in.v.const_data_ptr()) << sdpa_name(policy);
    }
  }
}

TEST(Sdpa, AnAdditiveMaskHidesKeys) {
  const Inputs in = inputs(1, 40);
  Inputs visible = in;
  visible.k = in.k.narrow(1, 0, 25);
  visible.v = in.v.narrow(1, 0, 25);
  const at::Tensor mask = causal_mask(24, 1, 40, in.q.options());
  for (const SdpaPolicy policy : kCpuPolicies) {
    SdpaReport report;
    EXPECT_TRUE(
        close(attention(in.q, in.k, in.v, mask, policy, report), by_the_formula(visible), 1e-6))
        << sdpa_name(policy);
  }
}

TEST(Sdpa, TheBackendThatRanIsReported) {
  const Inputs in = inputs(1, 10);
  const auto ran = [&](SdpaPolicy policy) {
    AttentionProbe probe;
    SdpaReport report;
    attention(in.q, in.k, in.v, {}, policy, report);
    const bool flash = probe.calls.at(0).op.find("flash") != std::string::npos;
    EXPECT_EQ(report.backend, flash ? SdpaPolicy::kFlash : SdpaPolicy::kMath);
    return report.backend;
  };
  EXPECT_EQ(ran(SdpaPolicy::kMath), SdpaPolicy::kMath);
  EXPECT_EQ(ran(SdpaPolicy::kFlash), SdpaPolicy::kFlash);
  EXPECT_NE(ran(SdpaPolicy::kAuto), SdpaPolicy::kAuto);
}

TEST(Sdpa, ABackendThatCannotRunHereIsRefusedWithTheReason) {
  const Inputs in = inputs(1, 10);
  for (const SdpaPolicy policy : {SdpaPolicy::kEfficient, SdpaPolicy::kCudnn}) {
    SdpaReport report;
    try {
      attention(in.q, in.k, in.v, {}, policy, report);
      ADD_FAILURE() << sdpa_name(policy) << " ran";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), Status::kUnsupported);
      EXPECT_NE(error.text().find(sdpa_name(policy)), std::string::npos) << error.text();
      EXPECT_NE(error.text().find("CUDA devices only"), std::string::npos) << error.text();
    }
    EXPECT_EQ(report.backend, SdpaPolicy::kAuto) << "nothing ran";
  }
}

TEST(Sdpa, CudaLimitsAreToldBeforeAnythingRuns) {
  const at::Device cuda(at::kCUDA, 0);
  const auto reason = [&](SdpaPolicy policy, at::ScalarType dtype, int64_t dim, bool mask) {
    try {
      check_sdpa(policy, cuda, dtype, dim, mask);
    } catch (const Error& error) {
      return error.text();
    }
    return std::string();
  };
  EXPECT_EQ(reason(SdpaPolicy::kFlash, at::kBFloat16, 128, false), "");
  EXPECT_NE(reason(SdpaPolicy::kFlash, at::kFloat, 128, false).find("float32"), std::string::npos);
  EXPECT_NE(reason(SdpaPolicy::kFlash, at::kBFloat16, 128, true).find("mask"), std::string::npos);
  EXPECT_NE(reason(SdpaPolicy::kCudnn, at::kBFloat16, 12, false).find("head size is 12"),
            std::string::npos);
  EXPECT_EQ(reason(SdpaPolicy::kEfficient, at::kFloat, 128, true), "");
  EXPECT_EQ(reason(SdpaPolicy::kMath, at::kFloat, 12, true), "");
}

TEST(Sdpa, HalfPrecisionStaysWithinItsRounding) {
  for (const at::ScalarType dtype : {at::kBFloat16, at::kHalf}) {
    const Inputs in = inputs(1, 64, dtype);
    // One rounding of results of size 1: 2^-9 for bf16; flash also rounds the weights.
    const double tolerance = dtype == at::kHalf ? 2e-3 : 1.6e-2;
    for (const SdpaPolicy policy : kCpuPolicies) {
      SdpaReport report;
      EXPECT_TRUE(
          close(attention(in.q, in.k, in.v, {}, policy, report), by_the_formula(in), tolerance))
          << sdpa_name(policy);
    }
  }
}

}  // namespace
}  // namespace remora::nn
