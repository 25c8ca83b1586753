#include "nn/kv_cache.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <cmath>
#include <fstream>
#include <set>

#include "base/error.h"
#include "nn/attention_probe.h"
#include "support/golden.h"

namespace remora::nn {
namespace {

using test::AttentionProbe;
using test::close;

constexpr KvMode kModes[] = {KvMode::kActivePrefix, KvMode::kFull, KvMode::kGraph};
constexpr int64_t kHeads = 4;

KvShape small_shape() { return {1, 2, 16, at::kFloat, at::kCPU}; }

struct Row {
  at::Tensor q, k, v;  // [heads or kv_heads, count, head_dim]
};

class Rows {
 public:
  Row next(int64_t count) {
    const auto random = [&](int64_t heads) { return at::randn({heads, count, 16}, generator_); };
    return {random(kHeads), random(2), random(2)};
  }

 private:
  at::Generator generator_ = at::make_generator<at::CPUGeneratorImpl>(7);
};

std::string error_of_attend(KvCache& cache, int64_t start, int64_t count) {
  Row row = Rows().next(std::max<int64_t>(count, 1));
  SdpaReport report;
  try {
    cache.attend(0, row.q, row.k, row.v, {start, count, {}}, SdpaPolicy::kAuto, report);
  } catch (const Error& error) {
    return error.text();
  }
  return "";
}

// The outputs of a prefill of 3 and five steps.
at::Tensor outputs(KvMode mode, SdpaPolicy policy, int64_t capacity) {
  const auto cache = make_kv_cache(mode, small_shape(), capacity, capacity);
  Rows rows;
  SdpaReport report;
  std::vector<at::Tensor> out;
  int64_t at = 0;
  for (const int64_t count : {3, 1, 1, 1, 1, 1}) {
    const Row row = rows.next(count);
    cache->reserve(at + count);
    out.push_back(cache->attend(0, row.q, row.k, row.v, {at, count, {}}, policy, report));
    at += count;
  }
  return at::cat(out);
}

TEST(KvRegression1, FullCapacityWithAMaskedTailEqualsTheActivePrefix) {
  for (const SdpaPolicy policy : {SdpaPolicy::kAuto, SdpaPolicy::kMath, SdpaPolicy::kFlash}) {
    const at::Tensor active = outputs(KvMode::kActivePrefix, policy, 32);
    for (const KvMode mode : {KvMode::kFull, KvMode::kGraph}) {
      const at::Tensor other = outputs(mode, policy, 32);
      EXPECT_TRUE(at::allclose(other, active, 1e-5, 1e-6)) << (other - active).abs().max();
      EXPECT_TRUE(at::equal(other.argmax(-1), active.argmax(-1)));
    }
  }
}

TEST(KvRegression1, RB_04_AttentionReceivesThePrefixOnlyAndTheCacheKeepsItsCapacity) {
  for (const SdpaPolicy policy : {SdpaPolicy::kAuto, SdpaPolicy::kMath, SdpaPolicy::kFlash}) {
    const auto cache = make_kv_cache(KvMode::kActivePrefix, small_shape(), 32, 32);
    Rows rows;
    SdpaReport report;
    const Row prompt = rows.next(3), next = rows.next(1);
    AttentionProbe probe;
    cache->attend(0, prompt.q, prompt.k, prompt.v, {0, 3, {}}, policy, report);
    cache->attend(0, next.q, next.k, next.v, {3, 1, {}}, policy, report);
    ASSERT_EQ(probe.calls.size(), 2U);
    EXPECT_EQ(probe.calls[0].k.size(-2), 3);
    EXPECT_EQ(probe.calls[1].k.size(-2), 4);
    EXPECT_EQ(probe.calls[1].k.const_data_ptr(), cache->keys(0, 4).const_data_ptr())
        << "the cache's own memory, cut before any expansion";
    EXPECT_EQ(cache->capacity(), 32);
  }
}

TEST(KvRegression2, LengthsFromOneToTheCapacityAreValidAndOthersAreErrors) {
  for (const KvMode mode : kModes) {
    const auto cache = make_kv_cache(mode, small_shape(), 8, 8);
    EXPECT_EQ(error_of_attend(*cache, 0, 1), "");
    EXPECT_EQ(error_of_attend(*cache, 7, 1), "");
    EXPECT_EQ(error_of_attend(*cache, 0, 8), "");
    const at::Tensor before = cache->keys(0, 8).clone();
    const std::string zero = error_of_attend(*cache, 0, 0);
    EXPECT_NE(zero.find("kv_len 0"), std::string::npos) << zero;
    EXPECT_NE(zero.find("1 to 8"), std::string::npos) << zero;
    const std::string nine = error_of_attend(*cache, 8, 1);
    EXPECT_NE(nine.find("kv_len 9"), std::string::npos) << nine;
    EXPECT_NE(nine.find("capacity of 8"), std::string::npos) << nine;
    EXPECT_NE(error_of_attend(*cache, -1, 2), "");
    EXPECT_TRUE(close(cache->keys(0, 8), before, 0)) << "nothing was written";
  }
}

TEST(KvRegression2, KeyValueAndMaskLengthsGoTogether) {
  const auto cache = make_kv_cache(KvMode::kActivePrefix, small_shape(), 8, 8);
  Rows rows;
  SdpaReport report;
  AttentionProbe probe;
  int64_t at = 0;
  for (const int64_t count : {3, 1, 1, 1, 1, 1}) {
    const Row row = rows.next(count);
    cache->attend(0, row.q, row.k, row.v, {at, count, {}}, SdpaPolicy::kMath, report);
    at += count;
  }
  ASSERT_EQ(probe.calls.size(), 6U);
  using Lengths = std::vector<int64_t>;
  EXPECT_EQ(probe.calls[0].lengths(), (Lengths{3, 3, 3}));
  EXPECT_TRUE(probe.calls[0].mask.defined()) << "a causal mask as long as the keys";
  EXPECT_EQ(probe.calls[1].lengths(), (Lengths{4, 4, 4}));
  EXPECT_EQ(probe.calls[5].lengths(), (Lengths{8, 8, 8}));
  EXPECT_FALSE(probe.calls[5].mask.defined()) << "one query needs none";
}

TEST(KvCache, AContinuedPrefillEqualsOneGo) {
  for (const KvMode mode : kModes) {
    const auto whole = make_kv_cache(mode, small_shape(), 16, 16);
    const auto parts = make_kv_cache(mode, small_shape(), 16, 16);
    const Row row = Rows().next(9);
    SdpaReport report;
    const at::Tensor one =
        whole->attend(0, row.q, row.k, row.v, {0, 9, {}}, SdpaPolicy::kAuto, report);
    std::vector<at::Tensor> out;
    for (const auto& [at, count] : {std::pair{0, 4}, {4, 5}}) {
      out.push_back(parts->attend(0, row.q.narrow(1, at, count), row.k.narrow(1, at, count),
                                  row.v.narrow(1, at, count), {at, count, {}}, SdpaPolicy::kAuto,
                                  report));
    }
    EXPECT_TRUE(close(at::cat(out), one, 1e-6));
  }
}

TEST(KvCache, AGrowingCacheKeepsItsRowsAndGrowsRarely) {
  const auto growing = make_kv_cache(KvMode::kActivePrefix, small_shape(), 0, 5000);
  const auto fixed = make_kv_cache(KvMode::kActivePrefix, small_shape(), 5000, 5000);
  EXPECT_EQ(growing->allocated_bytes(), 0U) << "nothing before the first use";
  Rows rows;
  std::set<int64_t> capacities;
  SdpaReport report;
  for (int64_t at = 0; at < 5000; ++at) {
    const Row row = rows.next(1);
    growing->reserve(at + 1);
    capacities.insert(growing->capacity());
    growing->write(0, row.k, row.v, {at, 1, {}});
    fixed->write(0, row.k, row.v, {at, 1, {}});
  }
  EXPECT_LE(capacities.size(), 10U);
  EXPECT_TRUE(close(growing->keys(0, 5000), fixed->keys(0, 5000), 0));
  EXPECT_TRUE(close(growing->values(0, 5000), fixed->values(0, 5000), 0));
  EXPECT_THROW(growing->reserve(5001), Error);
}

TEST(KvCache, FixedModesNeedACapacity) {
  for (const KvMode mode : {KvMode::kFull, KvMode::kGraph}) {
    EXPECT_THROW(make_kv_cache(mode, small_shape(), 0, 100), Error);
  }
  EXPECT_THROW(make_kv_cache(KvMode::kActivePrefix, small_shape(), 101, 100), Error);
  EXPECT_THROW(make_kv_cache(KvMode::kActivePrefix, small_shape(), -1, 100), Error);
}

TEST(KvCache, WhatIsForgottenCannotSpoilAMaskedPass) {
  for (const KvMode mode : kModes) {
    const auto used = make_kv_cache(mode, small_shape(), 16, 16);
    const auto fresh = make_kv_cache(mode, small_shape(), 16, 16);
    const auto attend = [&](KvCache& cache, int64_t at, const Row& row) {
      const at::Tensor where = at::full({1}, at, at::kLong);
      const KvRows rows{at, row.k.size(1),
                        mode == KvMode::kGraph && row.k.size(1) == 1 ? where : at::Tensor()};
      SdpaReport report;
      return cache.attend(0, row.q, row.k, row.v, rows, SdpaPolicy::kAuto, report);
    };
    Row bad = Rows().next(9);
    bad.k.fill_(NAN);
    bad.v.fill_(INFINITY);
    attend(*used, 0, bad);
    used->forget(0, 9);
    Rows rows;
    const Row prompt = rows.next(4), step = rows.next(1);
    for (KvCache* cache : {used.get(), fresh.get()}) attend(*cache, 0, prompt);
    EXPECT_TRUE(close(attend(*used, 4, step), attend(*fresh, 4, step), 0))
        << static_cast<int>(mode);
  }
}

int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t total = 0, resident = 0;
  if (!(statm >> total >> resident)) return -1;
  return resident * ::sysconf(_SC_PAGESIZE);
}

TEST(KvCache, RB_01_ResidentMemoryFollowsThePrefixNotTheCapacity) {
#if defined(__GLIBC__)
  ::malloc_trim(0);  // what earlier tests left would be given back in between
#endif
  const int64_t before = resident_bytes();
  if (before < 0) GTEST_SKIP() << "this system does not tell resident memory";
  const KvShape shape{4, 8, 128, at::kBFloat16, at::kCPU};
  const auto cache = make_kv_cache(KvMode::kActivePrefix, shape, 32768, 32768);
  constexpr int64_t kMiB = 1 << 20;
  EXPECT_EQ(cache->allocated_bytes(), 512U * kMiB);
  EXPECT_LT(resident_bytes() - before, 2 * kMiB);
  const at::Tensor rows = at::randn({8, 234, 128}).to(at::kBFloat16);
  for (int64_t layer = 0; layer < 4; ++layer) cache->write(layer, rows, rows, {0, 234, {}});
  // 234 positions are 3.7 MiB, and the allocator keeps the rows' temporaries: far from the 512 MiB
  // of the capacity all the same.
  const int64_t used = resident_bytes() - before;
  EXPECT_GT(used, 3 * kMiB);
  EXPECT_LT(used, 24 * kMiB);
}

}  // namespace
}  // namespace remora::nn
