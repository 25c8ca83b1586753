// Where a test makes work fail that fails by itself only on a broken device or a full machine.
#pragma once

#include <atomic>
#include <cstdint>

namespace remora::engine {

enum class Work : uint8_t { kPrefill, kStep, kDecode };

// Throws what the test wants to see. Process-wide; null, as it is outside tests, does nothing. Not
// exported from the library: only programs that link the layers themselves reach it.
using FaultHook = void (*)(Work);
inline std::atomic<FaultHook> g_fault_hook{nullptr};

// Called where work is done and not yet recorded, the worst place to stop at.
inline void fault_point(Work work) {
  if (const FaultHook hook = g_fault_hook.load(std::memory_order_relaxed)) hook(work);
}

}  // namespace remora::engine
