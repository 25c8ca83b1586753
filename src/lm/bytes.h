// Values to bytes and back, for saved sessions. Little-endian, without padding; reading is checked.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/error.h"

namespace remora::lm {

static_assert(std::endian::native == std::endian::little, "saved sessions are little-endian");

template <typename T>
concept Plain = std::is_arithmetic_v<T> || std::is_enum_v<T>;

class ByteWriter {
 public:
  template <Plain T>
  void put(T value) {
    put_bytes(std::as_bytes(std::span(&value, 1)));
  }
  // Its length first.
  template <Plain T>
  void put_list(std::span<const T> values) {
    put<uint64_t>(values.size());
    put_bytes(std::as_bytes(values));
  }
  void put_bytes(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  // Overwrites what was put at byte `offset`.
  template <Plain T>
  void patch(size_t offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
  }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Throws Error{kFormat} when the bytes end too early.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <Plain T>
  T get() {
    T value;
    std::memcpy(&value, get_bytes(sizeof value).data(), sizeof value);
    return value;
  }
  template <Plain T>
  std::vector<T> get_list() {
    const auto count = get<uint64_t>();
    if (count > bytes_.size() / sizeof(T)) fail();
    std::vector<T> values(static_cast<size_t>(count));
    const auto source = get_bytes(values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(values.data(), source.data(), source.size());
    return values;
  }
  std::span<const std::byte> get_bytes(size_t count) {
    if (count > bytes_.size()) fail();
    const auto out = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return out;
  }
  bool at_end() const { return bytes_.empty(); }
  [[noreturn]] static void fail() {
    throw Error(Status::kFormat, "saved session: the bytes are cut off or damaged");
  }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace remora::lm
