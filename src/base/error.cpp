#include "base/error.h"

namespace remora {

std::string_view status_name(int32_t status) noexcept {
  switch (static_cast<Status>(status)) {
    case Status::kOk:
      return "REMORA_OK";
    case Status::kEnd:
      return "REMORA_END";
    case Status::kInvalidArgument:
      return "REMORA_E_INVALID_ARGUMENT";
    case Status::kInvalidState:
      return "REMORA_E_INVALID_STATE";
    case Status::kBusy:
      return "REMORA_E_BUSY";
    case Status::kCancelled:
      return "REMORA_E_CANCELLED";
    case Status::kOutOfMemory:
      return "REMORA_E_OUT_OF_MEMORY";
    case Status::kIo:
      return "REMORA_E_IO";
    case Status::kFormat:
      return "REMORA_E_FORMAT";
    case Status::kUnsupported:
      return "REMORA_E_UNSUPPORTED";
    case Status::kBufferTooSmall:
      return "REMORA_E_BUFFER_TOO_SMALL";
    case Status::kContextFull:
      return "REMORA_E_CONTEXT_FULL";
    case Status::kDevice:
      return "REMORA_E_DEVICE";
    case Status::kAbi:
      return "REMORA_E_ABI";
    case Status::kCallback:
      return "REMORA_E_CALLBACK";
    case Status::kForked:
      return "REMORA_E_FORKED";
    case Status::kNumeric:
      return "REMORA_E_NUMERIC";
    case Status::kInternal:
      return "REMORA_E_INTERNAL";
  }
  return "REMORA_E_UNKNOWN";
}

}  // namespace remora
