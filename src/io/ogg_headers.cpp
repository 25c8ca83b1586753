#include "io/ogg_headers.h"

#include <array>
#include <cstring>

namespace remora::io {
namespace {

constexpr size_t kPageHeader = 27;
constexpr size_t kSerialAt = 14;
constexpr size_t kSegmentsAt = 26;
constexpr size_t kSerialSize = 4;
constexpr uint8_t kSegmentGoesOn = 255;
constexpr int kMaxPages = 4096;  // of 64 KB at most: a header may hold a picture

bool read_if_inside(const ByteSource& source, uint64_t at, std::span<uint8_t> dst) {
  if (at > source.size() || dst.size() > source.size() - at) return false;
  source.read_at(at, std::as_writable_bytes(dst));
  return true;
}

}  // namespace

bool has_ogg_headers(const ByteSource& source) {
  std::array<uint8_t, kSerialSize> serial{};
  int wanted = 0;
  int whole = 0;
  uint64_t at = 0;
  for (int page = 0; page < kMaxPages; ++page) {
    std::array<uint8_t, kPageHeader> header{};
    std::array<uint8_t, 255> lengths{};
    if (!read_if_inside(source, at, header) || std::memcmp(header.data(), "OggS", 4) != 0) {
      return false;
    }
    const std::span<uint8_t> segments = std::span(lengths).first(header[kSegmentsAt]);
    if (!read_if_inside(source, at + kPageHeader, segments)) return false;
    const uint64_t body = at + kPageHeader + segments.size();
    if (page == 0) {
      std::array<uint8_t, 7> magic{};
      if (!read_if_inside(source, body, magic)) return false;
      wanted = std::memcmp(magic.data(), "\x01vorbis", magic.size()) == 0 ? 3 : 2;
      std::memcpy(serial.data(), &header[kSerialAt], kSerialSize);
    }
    // Pages of other streams may lie between.
    const bool ours = std::memcmp(serial.data(), &header[kSerialAt], kSerialSize) == 0;
    at = body;
    for (const uint8_t length : segments) {
      at += length;
      if (at > source.size()) return false;
      if (ours && length != kSegmentGoesOn && ++whole == wanted) return true;
    }
  }
  return false;
}

}  // namespace remora::io
