#include "c_api/handle.h"

#ifndef NDEBUG
#include <array>
#include <mutex>
#include <utility>

namespace remora::c_api {
namespace {

// As many handles as are still known after their destroy.
constexpr size_t kRemembered = 4096;
constexpr char kBuried = 0;

struct Grave {
  void* memory = nullptr;
  void (*release)(void*) = nullptr;
};

struct Graveyard {
  std::mutex mutex;
  std::array<Grave, kRemembered> graves;
  size_t next = 0;
};

// Never destroyed: handles may be destroyed while the process exits.
Graveyard& graveyard() {
  static auto& yard = *new Graveyard;
  return yard;
}

}  // namespace

void bury(void* memory, void (*release)(void*)) noexcept {
  const void* mark = &kBuried;
  std::memcpy(memory, &mark, sizeof mark);
  Grave oldest;
  {
    Graveyard& yard = graveyard();
    const std::lock_guard lock(yard.mutex);
    oldest = std::exchange(yard.graves[yard.next], {memory, release});
    yard.next = (yard.next + 1) % kRemembered;
  }
  if (oldest.memory != nullptr) oldest.release(oldest.memory);
}

bool is_buried(const void* handle) noexcept {
  const void* mark = nullptr;
  std::memcpy(&mark, handle, sizeof mark);
  return mark == &kBuried;
}

}  // namespace remora::c_api
#endif
