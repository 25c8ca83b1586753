// Base64 with the standard alphabet and padding.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace remora::text {

// Nothing when `written` is not exactly one padded base64 text.
std::optional<std::string> decode_base64(std::string_view written);

}  // namespace remora::text
