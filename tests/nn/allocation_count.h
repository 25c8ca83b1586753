// Counts tensor memory that LibTorch's CPU allocator hands out on this thread.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <cstdint>
#include <memory>

namespace remora::test {

class AllocationCount {
 public:
  AllocationCount()
      : counter_(std::make_shared<Counter>()),
        guard_(c10::DebugInfoKind::PROFILER_STATE, counter_) {}
  int64_t allocations() const { return counter_->allocations; }

 private:
  struct Counter final : c10::MemoryReportingInfoBase {
    void reportMemoryUsage(void* /*ptr*/, int64_t bytes, size_t /*total*/, size_t /*reserved*/,
                           c10::Device /*device*/) override {
      if (bytes > 0) ++allocations;
    }
    bool memoryProfilingEnabled() const override { return true; }
    int64_t allocations = 0;
  };

  std::shared_ptr<Counter> counter_;
  c10::DebugInfoGuard guard_;
};

}  // namespace remora::test
