#include "text/base64.h"

#include <cstdint>

namespace remora::text {
namespace {

// The value of a digit, -1 for another character.
int digit_value(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  if (c == '/') return 63;
  return -1;
}

}  // namespace

std::optional<std::string> decode_base64(std::string_view written) {
  if (written.size() % 4 != 0) return std::nullopt;
  size_t padding = 0;
  while (padding < 2 && padding < written.size() && written[written.size() - 1 - padding] == '=') {
    ++padding;
  }
  std::string bytes;
  uint32_t bits = 0;
  for (size_t i = 0; i < written.size(); ++i) {
    const bool padded = i >= written.size() - padding;
    const int value = padded ? 0 : digit_value(written[i]);
    if (value < 0) return std::nullopt;
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (i % 4 != 3) continue;
    for (const int shift : {16, 8, 0}) bytes.push_back(static_cast<char>(bits >> shift & 0xFF));
    bits = 0;
  }
  bytes.resize(bytes.size() - padding);
  return bytes;
}

}  // namespace remora::text
