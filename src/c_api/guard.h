// The one wall between C++ exceptions and C callers.
#pragma once

#include <c10/core/InferenceMode.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "c_api/process_end.h"
#include "remora/remora.h"

namespace remora::c_api {

// This thread's last error text; keeps a truncated copy when memory is short.
void set_last_error(std::string_view text) noexcept;

// Turns the exception being handled into a status and stores its text.
remora_status store_current_exception() noexcept;

// REMORA_OK, or the status (with its text stored) that makes any call on this process impossible:
// it is ending, a forked child, or has a LibTorch other than the one built against.
remora_status check_process(const CallInProgress& call) noexcept;

// "2.13.0" as the loaded LibTorch describes itself; empty where it does not.
std::string loaded_torch_version();

// Runs `body`, which returns a remora_status or nothing. Autograd is off inside, for this thread
// and this call only.
template <typename Body>
remora_status guard(Body&& body) noexcept {
  const CallInProgress call;
  if (const remora_status status = check_process(call); status != REMORA_OK) return status;
  try {
    const c10::InferenceMode inference;
    if constexpr (std::is_void_v<decltype(body())>) {
      std::forward<Body>(body)();
      return REMORA_OK;
    } else {
      return std::forward<Body>(body)();
    }
  } catch (...) {
    return store_current_exception();
  }
}

// Throws Error{kInvalidArgument, "<name>: NULL ..."} when `pointer` is null.
template <typename T>
T& required(T* pointer, std::string_view name) {
  if (pointer == nullptr) {
    throw Error(Status::kInvalidArgument,
                std::string(name) + ": is NULL; this parameter is required");
  }
  return *pointer;
}

}  // namespace remora::c_api
