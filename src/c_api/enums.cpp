#include "c_api/enums.h"

#include <ATen/Context.h>

#include "base/concat.h"
#include "base/error.h"

namespace remora::c_api {

void check_enum(int32_t value, int32_t first, int32_t last, std::string_view field) {
  if (value < first || value > last) {
    throw Error(Status::kInvalidArgument,
                concat(field, ": is ", value, ", ", first, " to ", last, " is needed"));
  }
}

void check_flags(uint32_t flags, uint32_t known, std::string_view field) {
  if ((flags & ~known) != 0) {
    throw Error(Status::kInvalidArgument, concat(field, ": has unknown bits ", flags & ~known,
                                                 "; was the program built with a newer header?"));
  }
}

std::optional<at::ScalarType> dtype_from(remora_dtype value, std::string_view field) {
  switch (value) {
    case REMORA_DTYPE_AUTO:
      return std::nullopt;
    case REMORA_DTYPE_F32:
      return at::kFloat;
    case REMORA_DTYPE_BF16:
      return at::kBFloat16;
    case REMORA_DTYPE_F16:
      return at::kHalf;
    default:
      check_enum(value, REMORA_DTYPE_AUTO, REMORA_DTYPE_F16, field);
  }
  return std::nullopt;
}

remora_dtype dtype_to(at::ScalarType type) {
  switch (type) {
    case at::kBFloat16:
      return REMORA_DTYPE_BF16;
    case at::kHalf:
      return REMORA_DTYPE_F16;
    default:
      return REMORA_DTYPE_F32;
  }
}

at::Device device_from(remora_device_kind kind, int32_t index) {
  check_enum(kind, REMORA_DEVICE_AUTO, REMORA_DEVICE_MPS, "device");
  if (index < 0 || index > 127) {
    throw Error(Status::kInvalidArgument,
                concat("device_index: is ", index, ", 0 to 127 is needed"));
  }
  if (kind == REMORA_DEVICE_CUDA) {
    if (!at::hasCUDA()) {
      throw Error(Status::kUnsupported,
                  "device: CUDA was asked for, but this LibTorch has none or no GPU is visible; "
                  "use the CPU or a CUDA build of LibTorch");
    }
    return {at::kCUDA, static_cast<c10::DeviceIndex>(index)};
  }
  if (kind == REMORA_DEVICE_MPS) {
    if (!at::hasMPS()) {
      throw Error(Status::kUnsupported,
                  "device: MPS was asked for, but this LibTorch has none; use the CPU");
    }
    return at::kMPS;
  }
  if (index != 0) {
    throw Error(Status::kInvalidArgument,
                concat("device_index: is ", index, ", the CPU has only 0"));
  }
  return at::kCPU;
}

remora_device_kind device_to(const at::Device& device) {
  if (device.is_cuda()) return REMORA_DEVICE_CUDA;
  if (device.is_mps()) return REMORA_DEVICE_MPS;
  return REMORA_DEVICE_CPU;
}

}  // namespace remora::c_api
