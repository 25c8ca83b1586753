#include "text/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "text/utf8.h"

namespace remora::text {
namespace {

constexpr bool is_printable(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

constexpr int kAlphabetEnd = 0x100 + 68;

// Code point to byte, -1 outside the alphabet.
constexpr std::array<int16_t, kAlphabetEnd> make_table() {
  std::array<int16_t, kAlphabetEnd> table{};
  table.fill(-1);
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    table[is_printable(byte) ? byte : next++] = static_cast<int16_t>(byte);
  }
  return table;
}

constexpr std::array<int16_t, kAlphabetEnd> kByteOf = make_table();

}  // namespace

std::optional<std::string> bytes_from_alphabet(std::string_view written) {
  std::string bytes;
  for (size_t offset = 0; offset < written.size();) {
    const CodePoint point = code_point_at(written, offset);
    offset += point.length;
    if (point.value >= kByteOf.size() || kByteOf[point.value] < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(kByteOf[point.value]));
  }
  return bytes;
}

}  // namespace remora::text
