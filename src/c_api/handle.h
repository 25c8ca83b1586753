// What every handle has in common: it is counted, and in debug builds it can be told from one that
// was destroyed or is of another kind.
#pragma once

#include <concepts>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "base/live_count.h"
#include "c_api/guard.h"

namespace remora::c_api {

// The first base of each handle's struct. A mark is the address of a byte: one for each kind, and
// one for what was destroyed.
template <typename T>
class Handle : public LiveCount<T> {
 public:
  Handle() noexcept {}
#ifndef NDEBUG
  static const void* kind() { return &kKind; }

 private:
  static constexpr char kKind = 0;
  const void* mark_ = &kKind;
#endif
};

template <typename T>
concept AnyHandle = std::derived_from<std::remove_const_t<T>, Handle<std::remove_const_t<T>>>;

#ifndef NDEBUG
// Keeps the memory of a destroyed handle for a while, marked as such, so that a later use is told
// from a good one without reading freed memory. `release` frees it.
void bury(void* memory, void (*release)(void*)) noexcept;
// Whether bury() marked it.
bool is_buried(const void* handle) noexcept;

// What is wrong with a handle that is not null; empty when nothing is.
template <AnyHandle T>
std::string fault_of(T* handle, std::string_view name) {
  if (is_buried(handle)) {
    return concat(name, ": was destroyed before this call; do not use a handle after its destroy");
  }
  const void* mark = nullptr;
  std::memcpy(&mark, static_cast<const void*>(handle), sizeof mark);
  if (mark == std::remove_const_t<T>::kind()) return {};
  return concat(name, ": is no such handle; was one of another kind passed?");
}
#endif

// As for any required parameter; in debug builds also throws Error{kInvalidState} for a handle that
// was destroyed or is of another kind.
template <AnyHandle T>
T& required(T* handle, std::string_view name) {
  if (handle == nullptr) {
    throw Error(Status::kInvalidArgument, concat(name, ": is NULL; this parameter is required"));
  }
#ifndef NDEBUG
  if (const std::string fault = fault_of(handle, name); !fault.empty()) {
    throw Error(Status::kInvalidState, fault);
  }
#endif
  return *handle;
}

// For functions without a status: whether there is something to work on. What is wrong with it, in
// debug builds, is stored as the thread's last error.
template <AnyHandle T>
bool usable(T* handle, std::string_view name) noexcept {
  try {
    if (handle != nullptr) required(handle, name);
    return handle != nullptr;
  } catch (...) {
    store_current_exception();
    return false;
  }
}

// Ownership that crosses the ABI: made here, given back to drop_handle().
template <AnyHandle T, typename... Parts>
T* make_handle(Parts&&... parts) {
  return std::make_unique<T>(T{{}, std::forward<Parts>(parts)...}).release();
}
template <AnyHandle T>
void drop_handle(T* handle, std::string_view name) noexcept {
  const CallInProgress call;  // the process's end waits for it
  if (process_is_over()) return;
#ifdef NDEBUG
  const std::unique_ptr<T> owner(handle);
  static_cast<void>(name);
#else
  if (!usable(handle, name)) return;
  std::destroy_at(handle);
  bury(handle, [](void* memory) { std::allocator<T>().deallocate(static_cast<T*>(memory), 1); });
#endif
}

}  // namespace remora::c_api
