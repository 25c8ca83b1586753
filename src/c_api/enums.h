// Numbers of the ABI to types of the engine; throws Error{kInvalidArgument} naming the field.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <string_view>

#include "remora/remora.h"

namespace remora::c_api {

// Empty for REMORA_DTYPE_AUTO.
std::optional<at::ScalarType> dtype_from(remora_dtype value, std::string_view field);
remora_dtype dtype_to(at::ScalarType type);

// Throws Error{kUnsupported} for a device this build or machine lacks.
at::Device device_from(remora_device_kind kind, int32_t index);
remora_device_kind device_to(const at::Device& device);

// Throws unless first <= value <= last.
void check_enum(int32_t value, int32_t first, int32_t last, std::string_view field);

// Throws when `flags` has a bit outside `known`.
void check_flags(uint32_t flags, uint32_t known, std::string_view field);

}  // namespace remora::c_api
