// FNV-1a over values of known width: fingerprints, not security.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace remora::lm {

class Hash {
 public:
  void add_bytes(std::span<const std::byte> bytes) {
    constexpr uint64_t kPrime = 0x100000001b3;
    for (const std::byte b : bytes) {
      value_ = (value_ ^ static_cast<uint64_t>(b)) * kPrime;
    }
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
  uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace remora::lm
