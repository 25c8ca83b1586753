#include "nn/static_kv_cache.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "base/error.h"
#include "nn/allocation_count.h"
#include "support/golden.h"

namespace remora::nn {
namespace {

using test::close;

constexpr int64_t kCapacity = 12;

KvShape shape() { return {2, 3, 4, at::kFloat, at::kCPU}; }

at::Tensor position(int64_t value) {
  return at::full({1}, value, at::TensorOptions().dtype(at::kLong));
}

at::Tensor random(const std::vector<int64_t>& sizes) {
  return at::randn(sizes, at::make_generator<at::CPUGeneratorImpl>(5));
}

Status status_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.status();
  }
  return Status::kOk;
}

TEST(StaticKvCache, StartsAsZerosWithNothingValid) {
  const StaticKvCache cache(shape(), kCapacity);
  const auto& [k, v] = cache.attn(1);
  EXPECT_EQ(k.sizes(), (std::vector<int64_t>{1, 3, kCapacity, 4}));
  EXPECT_TRUE(close(k, at::zeros_like(k), 0));
  EXPECT_TRUE(close(v, at::zeros_like(v), 0));
  EXPECT_EQ(cache.valid_len().item<int32_t>(), 0);
  EXPECT_EQ(cache.valid_len().scalar_type(), at::kInt);
}

TEST(StaticKvCache, StorageIsLayerPositionHeadElement) {
  const StaticKvCache cache(shape(), kCapacity);
  const at::Tensor k = cache.attn(0).first;  // [1, heads, positions, elements]
  EXPECT_EQ(k.stride(2), 3 * 4) << "one position's heads are neighbours";
  EXPECT_EQ(k.stride(1), 4);
}

TEST(StaticKvCache, AttnGivesTheSameViewsEachTime) {
  const StaticKvCache cache(shape(), kCapacity);
  EXPECT_EQ(&cache.attn(1), &cache.attn(1));
  EXPECT_NE(cache.attn(0).first.const_data_ptr(), cache.attn(1).first.const_data_ptr());
}

TEST(StaticKvCache, ValidLenCanBeShared) {
  const at::Tensor shared = at::zeros({}, at::TensorOptions().dtype(at::kInt));
  StaticKvCache slow(shape(), kCapacity, shared), other(shape(), kCapacity, shared);
  slow.mark_written(position(4));
  EXPECT_EQ(shared.item<int32_t>(), 5);
  EXPECT_EQ(other.valid_len().item<int32_t>(), 5);
}

TEST(StaticKvCache, ValidLenElsewhereOrOfAnotherKindIsRefused) {
  const auto options = at::TensorOptions().dtype(at::kInt);
  EXPECT_EQ(status_of([&] {
              StaticKvCache(shape(), kCapacity, at::empty({}, options.device(at::kMeta)));
            }),
            Status::kDevice);
  EXPECT_EQ(status_of([&] { StaticKvCache(shape(), kCapacity, at::zeros({1}, options)); }),
            Status::kInvalidArgument);
  EXPECT_EQ(status_of([&] {
              StaticKvCache(shape(), kCapacity, at::zeros({}, options.dtype(at::kLong)));
            }),
            Status::kInvalidArgument);
}

TEST(StaticKvCache, TheMaskHidesTheTailAndFollowsTheLength) {
  StaticKvCache cache(shape(), kCapacity);
  for (const int64_t at : {0, 5, 11}) {
    cache.mark_written(position(at));
    const at::Tensor mask = cache.additive_mask();
    EXPECT_EQ(mask.sizes(), (std::vector<int64_t>{1, 1, 1, kCapacity}));
    EXPECT_EQ(mask.scalar_type(), at::kFloat);
    for (int64_t i = 0; i < kCapacity; ++i) {
      EXPECT_EQ(mask.flatten()[i].item<float>(), i <= at ? 0.0F : -1e9F) << i << " after " << at;
    }
  }
}

TEST(StaticKvCache, TheMaskIsFilledInPlace) {
  StaticKvCache cache(shape(), kCapacity);
  at::Tensor out = at::full({1, 1, 1, kCapacity}, 7.0F);
  const void* data = out.const_data_ptr();
  cache.mark_written(position(3));
  EXPECT_EQ(cache.additive_mask(out).const_data_ptr(), data);
  EXPECT_TRUE(close(out, cache.additive_mask(), 0));
}

TEST(StaticKvCache, ViewsReachFromNothingToTheCapacity) {
  const StaticKvCache cache(shape(), kCapacity);
  EXPECT_EQ(cache.view(0, 0).first.size(2), 0);
  EXPECT_EQ(cache.view(0, kCapacity).second.size(2), kCapacity);
  for (const int64_t bad : {int64_t{-1}, kCapacity + 1}) {
    EXPECT_EQ(status_of([&] { cache.view(0, bad); }), Status::kInvalidArgument) << bad;
  }
}

TEST(StaticKvCache, WriteGoesToTheDevicePositionOfOneLayer) {
  StaticKvCache cache(shape(), kCapacity);
  const at::Tensor k = random({3, 1, 4}), v = k + 1;
  cache.write(1, position(6), k, v);
  EXPECT_TRUE(close(cache.attn(1).first.select(2, 6)[0], k.squeeze(1), 0));
  EXPECT_TRUE(close(cache.attn(1).second.select(2, 6)[0], v.squeeze(1), 0));
  EXPECT_EQ(cache.attn(0).first.abs().sum().item<float>(), 0.0F);
  EXPECT_EQ(cache.attn(1).first.abs().sum().item<float>(), k.abs().sum().item<float>());
}

TEST(StaticKvCache, RangesAreWrittenOrRefusedNamingTheSlots) {
  StaticKvCache cache(shape(), kCapacity);
  const at::Tensor k = random({3, 5, 4});
  cache.write_range(0, 7, k, k);
  EXPECT_TRUE(close(cache.view(0, kCapacity).first[0].narrow(1, 7, 5), k, 0));
  const at::Tensor before = cache.attn(0).first.clone();
  for (const int64_t bad :
       {int64_t{-1}, int64_t{8}, kCapacity, std::numeric_limits<int64_t>::max() - 4}) {
    EXPECT_EQ(status_of([&] { cache.write_range(0, bad, k, k); }), Status::kContextFull) << bad;
  }
  try {
    cache.write_range(0, 8, k, k);
  } catch (const Error& error) {
    EXPECT_NE(error.text().find("slots 8 to 12"), std::string::npos) << error.text();
    EXPECT_NE(error.text().find("capacity of 12"), std::string::npos) << error.text();
  }
  EXPECT_TRUE(close(cache.attn(0).first, before, 0));
}

TEST(StaticKvCache, GarbageInTheTailDoesNotMoveTheResult) {
  const auto attend = [](bool garbage) {
    StaticKvCache cache(shape(), kCapacity);
    if (garbage) {
      const auto& [k, v] = cache.attn(0);
      k.fill_(1e4);
      v.fill_(-3e38);
    }
    const at::Tensor rows = random({3, 5, 4});
    cache.write_range(0, 0, rows, rows);
    cache.mark_written(position(4));
    const auto& [k, v] = cache.attn(0);
    SdpaReport report;
    return attention(random({6, 1, 4}), k[0], v[0], cache.additive_mask(), SdpaPolicy::kMath,
                     report);
  };
  EXPECT_TRUE(close(attend(true), attend(false), 0));
}

TEST(StaticKvCache, TheStepPathAllocatesNothing) {
  StaticKvCache cache(shape(), 200);
  const at::Tensor k = random({3, 1, 4}), where = position(0);
  at::Tensor mask = cache.additive_mask();
  const auto step = [&](int64_t at) {
    where.fill_(at);
    for (int64_t layer = 0; layer < 2; ++layer) cache.write(layer, where, k, k);
    cache.mark_written(where);
    cache.additive_mask(mask);
  };
  step(0);
  const test::AllocationCount count;
  for (int64_t at = 1; at <= 100; ++at) step(at);
  EXPECT_EQ(count.allocations(), 0);
  EXPECT_EQ(cache.valid_len().item<int32_t>(), 101);
}

}  // namespace
}  // namespace remora::nn
