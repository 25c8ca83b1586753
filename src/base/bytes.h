// Small binary files (voices, saved sessions): little-endian values with every read checked.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/concat.h"
#include "base/error.h"

namespace remora {

static_assert(std::endian::native == std::endian::little, "files are written in host byte order");

class ByteWriter {
 public:
  template <typename T>
  requires(std::is_arithmetic_v<T>) void value(T v) { bytes(std::as_bytes(std::span(&v, 1))); }
  void bytes(std::span<const std::byte> data) {
    const size_t at = buffer_.size();
    buffer_.resize(at + data.size());
    if (!data.empty()) std::memcpy(buffer_.data() + at, data.data(), data.size());
  }
  // Length first.
  void text(std::string_view text) {
    value<uint64_t>(text.size());
    bytes(std::as_bytes(std::span(text)));
  }
  // A count, then the values.
  template <typename T>
  void numbers(std::span<const T> values) {
    value<uint64_t>(values.size());
    bytes(std::as_bytes(values));
  }
  std::span<const std::byte> written() const { return buffer_; }
  std::vector<std::byte> take() { return std::move(buffer_); }

 private:
  std::vector<std::byte> buffer_;
};

// Throws Error{kFormat} "<what>: ends at byte ..., incomplete?" past the end.
class ByteReader {
 public:
  ByteReader(std::span<const std::byte> data, std::string_view what) : data_(data), what_(what) {}

  template <typename T>
  requires(std::is_arithmetic_v<T>) T value() {
    T v{};
    std::memcpy(&v, bytes(sizeof v).data(), sizeof v);
    return v;
  }
  std::span<const std::byte> bytes(uint64_t count) {
    if (count > data_.size() - position_) {
      throw Error(Status::kFormat, concat(what_, ": ends at byte ", data_.size(), ", but ", count,
                                          " bytes from ", position_, " are needed; incomplete?"));
    }
    const auto part = data_.subspan(position_, static_cast<size_t>(count));
    position_ += part.size();
    return part;
  }
  std::string text() {
    const auto part = bytes(value<uint64_t>());
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }
  template <typename T>
  std::vector<T> numbers() {
    const auto count = value<uint64_t>();
    if (count > remaining() / sizeof(T)) {
      throw Error(Status::kFormat, concat(what_, ": names ", count, " values at byte ", position_,
                                          " and ends at ", data_.size(), "; incomplete?"));
    }
    std::vector<T> out(static_cast<size_t>(count));
    const auto part = bytes(count * sizeof(T));
    if (count > 0) std::memcpy(out.data(), part.data(), part.size());
    return out;
  }
  size_t position() const { return position_; }
  size_t remaining() const { return data_.size() - position_; }

 private:
  std::span<const std::byte> data_;
  std::string what_;
  size_t position_ = 0;
};

// FNV-1a, 64 bits: finds damage, not malice.
inline uint64_t checksum(std::span<const std::byte> data) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte byte : data) {
    hash = (hash ^ static_cast<uint64_t>(byte)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace remora
