// A 64-bit hash of values of known width: fingerprints and checksums, not security.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

namespace remora::lm {

class Hash {
 public:
  void add_bytes(std::span<const std::byte> bytes) {
    for (; bytes.size() >= sizeof(uint64_t); bytes = bytes.subspan(sizeof(uint64_t))) {
      uint64_t word;
      std::memcpy(&word, bytes.data(), sizeof word);
      mix(word);
    }
    for (const std::byte b : bytes) mix(static_cast<uint64_t>(b));
  }
  // Strings carry their length, so that neighbours cannot run together.
  void add(std::string_view text) {
    add(text.size());
    add_bytes(std::as_bytes(std::span(text)));
  }
  template <typename T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void add(T value) {
    add_bytes(std::as_bytes(std::span(&value, 1)));
  }
  uint64_t value() const { return value_; }

 private:
  // FNV-1a's multiplication, with the upper half brought down: it only carries upwards.
  void mix(uint64_t word) {
    value_ = (value_ ^ word) * 0x100000001b3;
    value_ ^= value_ >> 32;
  }

  uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace remora::lm
