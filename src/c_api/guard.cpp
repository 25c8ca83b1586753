#include "c_api/guard.h"

#include <ATen/Version.h>
#include <c10/util/Exception.h>
#include <torch/headeronly/version.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <string>

#include "base/concat.h"
#include "base/process.h"

namespace remora::c_api {
namespace {

// A plain array: storing an error must work without memory and at thread exit.
thread_local std::array<char, 2048> t_last_error{};

// Error text, or empty when the loaded LibTorch is the minor version compiled against.
std::string torch_mismatch() {
  const std::string loaded = loaded_torch_version();
  const std::string wanted = concat(TORCH_VERSION_MAJOR, ".", TORCH_VERSION_MINOR, ".");
  if (loaded.empty() || loaded.starts_with(wanted)) return "";
  return concat("LibTorch: version ", loaded,
                " is loaded in this process, but remora was built for ", TORCH_VERSION,
                "; load the same minor version");
}

// What LibTorch's error is about, by its type where it has one of its own, else by its text.
remora_status status_of(const c10::Error& error, std::string_view text) noexcept {
  // The CPU allocator's text differs between systems.
  for (const std::string_view part : {"not enough memory", "can't allocate memory"}) {
    if (text.find(part) != std::string_view::npos) return REMORA_E_OUT_OF_MEMORY;
  }
  if (dynamic_cast<const c10::AcceleratorError*>(&error) != nullptr) return REMORA_E_DEVICE;
  // cuBLAS, cuDNN and the driver come as plain errors.
  for (const std::string_view part : {"CUDA error", "CUDA driver error", "cuDNN error"}) {
    if (text.find(part) != std::string_view::npos) return REMORA_E_DEVICE;
  }
  return REMORA_E_INTERNAL;
}

}  // namespace

std::string loaded_torch_version() {
  const std::string config = at::show_config();
  constexpr std::string_view kKey = "TORCH_VERSION=";
  const size_t start = config.find(kKey);
  if (start == std::string::npos) return "";
  const size_t begin = start + kKey.size();
  return config.substr(begin, config.find_first_of(", \n", begin) - begin);
}

void set_last_error(std::string_view text) noexcept {
  size_t n = std::min(text.size(), t_last_error.size() - 1);
  // Never cut inside a UTF-8 sequence.
  while (n < text.size() && n > 0 && (static_cast<unsigned char>(text[n]) & 0xC0) == 0x80) --n;
  std::memcpy(t_last_error.data(), text.data(), n);
  t_last_error[n] = '\0';
}

remora_status store_current_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    set_last_error(error.text());
    return static_cast<remora_status>(error.status());
  } catch (const c10::OutOfMemoryError& error) {
    set_last_error(error.what_without_backtrace());
    return REMORA_E_OUT_OF_MEMORY;
  } catch (const c10::Error& error) {
    const std::string_view text = error.what_without_backtrace();
    set_last_error(text);
    return status_of(error, text);
  } catch (const std::bad_alloc&) {
    set_last_error("memory: the system has no more; free some or load a smaller model");
    return REMORA_E_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    set_last_error(error.what());
    return REMORA_E_INTERNAL;
  } catch (...) {
    set_last_error("an exception of unknown type was caught inside remora");
    return REMORA_E_INTERNAL;
  }
}

remora_status check_process(const CallInProgress& call) noexcept {
  if (!call.allowed()) {
    set_last_error(
        "process: is ending, so no call begins any more; end the threads that call first");
    return REMORA_E_INVALID_STATE;
  }
  if (in_forked_child()) {
    set_last_error("fork: LibTorch does not survive fork(); use remora in the parent, or exec()");
    return REMORA_E_FORKED;
  }
  try {
    // Never destroyed: threads may still work while the process exits.
    static const std::string& mismatch = *new std::string(torch_mismatch());
    if (mismatch.empty()) return REMORA_OK;
    set_last_error(mismatch);
    return REMORA_E_ABI;
  } catch (...) {
    return store_current_exception();
  }
}

}  // namespace remora::c_api

const char* remora_last_error(void) { return remora::c_api::t_last_error.data(); }
