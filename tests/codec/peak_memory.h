// Counts the memory of tensors.
#pragma once

#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace remora::test {

// Most tensor bytes that lived at a time since it was made; of this thread alone.
class PeakMemory {
 public:
  PeakMemory()
      : counter_(std::make_shared<Counter>()),
        guard_(c10::DebugInfoKind::PROFILER_STATE, counter_) {}
  int64_t bytes() const { return counter_->most; }

 private:
  struct Counter final : c10::MemoryReportingInfoBase {
    void reportMemoryUsage(void* /*ptr*/, int64_t bytes, size_t /*total*/, size_t /*reserved*/,
                           c10::Device /*device*/) override {
      live += bytes;
      most = std::max(most, live);
    }
    bool memoryProfilingEnabled() const override { return true; }
    int64_t live = 0;
    int64_t most = 0;
  };

  std::shared_ptr<Counter> counter_;
  c10::DebugInfoGuard guard_;
};

}  // namespace remora::test
