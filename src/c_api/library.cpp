#include <ATen/Parallel.h>
#include <torch/headeronly/version.h>

#include <string>

#include "base/concat.h"
#include "base/log.h"
#include "c_api/enums.h"
#include "c_api/guard.h"
#include "remora/remora.h"

using remora::concat;
using remora::c_api::guard;

namespace {

constexpr uint32_t kMajor = REMORA_VERSION_MAJOR;
constexpr uint32_t kMinor = REMORA_VERSION_MINOR;
constexpr uint32_t kPatch = REMORA_VERSION_PATCH;

std::string describe_build() {
  return concat("remora ", kMajor, ".", kMinor, ".", kPatch, ", ABI ", REMORA_ABI_VERSION,
                ", compiler ", __VERSION__, ", LibTorch built against ", TORCH_VERSION, ", loaded ",
                remora::c_api::loaded_torch_version());
}

}  // namespace

uint32_t remora_version(void) { return kMajor << 16 | kMinor << 8 | kPatch; }

uint32_t remora_abi_version(void) { return REMORA_ABI_VERSION; }

const char* remora_build_info(void) {
  try {
    static const std::string& text = *new std::string(describe_build());
    return text.c_str();
  } catch (...) {
    return "remora";
  }
}

const char* remora_status_name(remora_status status) {
  return remora::status_name(status).data();  // points at a literal
}

remora_status remora_set_log(remora_log_fn fn, void* user, remora_log_level max_level) {
  return guard([&] {
    remora::c_api::check_enum(max_level, REMORA_LOG_ERROR, REMORA_LOG_DEBUG, "max_level");
    remora::set_log_sink(fn, user, static_cast<remora::LogLevel>(max_level));
  });
}

remora_status remora_set_threads(int32_t intra_op) {
  return guard([&] {
    remora::c_api::check_enum(intra_op, 1, 1024, "intra_op");
    at::set_num_threads(intra_op);
  });
}
