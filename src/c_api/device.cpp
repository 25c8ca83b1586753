#include <ATen/Context.h>
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/CachingDeviceAllocator.h>
#include <unistd.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

#include <algorithm>
#include <fstream>
#include <string>

#include "base/concat.h"
#include "c_api/enums.h"
#include "c_api/guard.h"
#include "c_api/params.h"

using remora::c_api::guard;
using remora::c_api::required;
namespace capi = remora::c_api;

namespace {

int32_t count_devices(remora_device_kind kind) {
  switch (kind) {
    case REMORA_DEVICE_AUTO:
    case REMORA_DEVICE_CPU:
      return 1;
    case REMORA_DEVICE_CUDA:
      return at::hasCUDA() ? at::detail::getCUDAHooks().deviceCount() : 0;
    case REMORA_DEVICE_MPS:
      return at::hasMPS() ? 1 : 0;
    default:
      return 0;
  }
}

// The value behind `key` in a "key : value" file of the kernel, or empty.
std::string kernel_value(const char* path, std::string_view key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const size_t start = line.find_first_not_of(" \t", colon + 1);
    return start == std::string::npos ? "" : line.substr(start);
  }
  return "";
}

uint64_t pages_to_bytes(int name) {
  const long pages = ::sysconf(name);
  const long page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page) : 0;
}

void set_name(remora_device_info& info, std::string_view name) {
  std::copy_n(name.data(), std::min(name.size(), sizeof info.name - 1), info.name);
}

remora_device_info describe_cpu() {
  remora_device_info info{};
  const std::string model = kernel_value("/proc/cpuinfo", "model name");
  set_name(info, model.empty() ? "CPU" : model);
  info.memory_total = pages_to_bytes(_SC_PHYS_PAGES);
  info.memory_free = pages_to_bytes(_SC_AVPHYS_PAGES);
  return info;
}

}  // namespace

int32_t remora_device_count(remora_device_kind kind) {
  int32_t count = 0;
  guard([&] { count = count_devices(kind); });
  return count;
}

remora_status remora_device_describe(remora_device_kind kind, int32_t index,
                                     remora_device_info* out) {
  return guard([&] {
    const at::Device device = capi::device_from(kind, index);
    remora_device_info info{};
    if (device.is_cpu()) {
      info = describe_cpu();
    } else if (index >= count_devices(kind)) {
      throw remora::Error(remora::Status::kInvalidArgument,
                          remora::concat("device_index: is ", index, ", there are ",
                                         count_devices(kind), " devices of this kind"));
    } else {
      set_name(info, device.str());
    }
    info.struct_size = sizeof info;
    capi::write_struct(&required(out, "out"), info, out->struct_size, "device_info");
  });
}

remora_status remora_trim_memory(void) {
  return guard([] {
    if (at::hasCUDA()) c10::getDeviceAllocator(at::kCUDA)->emptyCache();
#if defined(__GLIBC__)
    ::malloc_trim(0);
#endif
  });
}
