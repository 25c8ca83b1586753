#include "io/mpeg_frames.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace remora::io {
namespace {

constexpr size_t kFrameHeader = 4;
constexpr size_t kTagHeader = 10;
constexpr size_t kWindow = 1 << 16;
constexpr uint64_t kLookBack = 2048;      // more than the longest frame's 1729 bytes
constexpr uint64_t kMaxRanges = 1 << 16;  // pieces that junk may cut a file into
// Version, layer and sample rate: the same in all frames of a file.
constexpr uint32_t kSameBits = 0xFFFE0C00;

// Kilobits a second by bit-rate index 1 to 14: MPEG 1 layers 1 to 3, then MPEG 2 layer 1 and 2 / 3.
constexpr uint16_t kBitRates[5][14] = {
    {32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448},
    {32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384},
    {32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320},
    {32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256},
    {8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160},
};

struct FrameHeader {
  uint32_t bits = 0;
  bool valid() const {
    return bits >> 21 == 0x7FF && version() != 1 && layer_code() != 0 && rate_index() != 15 &&
           (bits >> 10 & 3) != 3;
  }
  bool free_rate() const { return rate_index() == 0; }
  // Bytes of the whole frame; valid() and not free_rate().
  uint32_t length() const {
    constexpr uint32_t kRates[] = {44100, 48000, 32000};
    const uint32_t layer = 4 - layer_code();  // 1 to 3
    const bool mpeg1 = version() == 3;
    const uint32_t rate = kRates[bits >> 10 & 3] >> (mpeg1 ? 0 : version() == 2 ? 1 : 2);
    const uint32_t row = mpeg1 ? layer - 1 : layer == 1 ? 3 : 4;
    const uint32_t bit_rate = kBitRates[row][rate_index() - 1] * 1000u;
    const uint32_t padding = bits >> 9 & 1;
    if (layer == 1) return (12 * bit_rate / rate + padding) * 4;
    return (layer == 3 && !mpeg1 ? 72 : 144) * bit_rate / rate + padding;
  }

 private:
  uint32_t version() const { return bits >> 19 & 3; }
  uint32_t layer_code() const { return bits >> 17 & 3; }
  uint32_t rate_index() const { return bits >> 12 & 15; }
};

// Headers at offsets that rise but for steps back by less than a frame, read in large pieces.
class Scanner {
 public:
  explicit Scanner(const ByteSource& source) : source_(source) {}
  // Zero bits, which are no header, at the end.
  FrameHeader header(uint64_t at) {
    if (source_.size() < kFrameHeader || at > source_.size() - kFrameHeader) return {};
    if (at < start_ || at + kFrameHeader > start_ + window_.size()) {
      start_ = at - std::min(at, kLookBack);
      window_.resize(static_cast<size_t>(std::min<uint64_t>(kWindow, source_.size() - start_)));
      source_.read_at(start_, window_);
    }
    FrameHeader out;
    for (size_t i = 0; i < kFrameHeader; ++i) {
      out.bits = out.bits << 8 | std::to_integer<uint32_t>(window_[at - start_ + i]);
    }
    return out;
  }

 private:
  const ByteSource& source_;
  uint64_t start_ = 0;
  std::vector<std::byte> window_;
};

// Behind the ID3 tag that may come first.
uint64_t after_tag(const ByteSource& source) {
  std::array<uint8_t, kTagHeader> tag{};
  if (source.size() < tag.size()) return 0;
  source.read_at(0, std::as_writable_bytes(std::span(tag)));
  if (std::memcmp(tag.data(), "ID3", 3) != 0) return 0;
  uint64_t size = 0;
  for (size_t i = 6; i < kTagHeader; ++i) size = size << 7 | (tag[i] & 0x7Fu);
  const bool footer = (tag[5] & 0x10) != 0;
  return kTagHeader + size + (footer ? kTagHeader : 0);
}

void put_big(std::string& bytes, size_t at, uint64_t value) {
  for (size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(value >> (8 * (3 - i)) & 0xFF);
}

// The counts in an encoder's table of contents, which stands where the sound of a frame would. The
// decoder warns on stderr of a count of bytes that is not right, as in any file that was cut.
void correct_counts(std::string& frame, uint64_t frames, uint64_t bytes) {
  constexpr size_t kDeepest = 4 + 32;  // behind the largest side information
  constexpr uint8_t kHasFrames = 1, kHasBytes = 2;
  for (const std::string_view tag : {"Xing", "Info"}) {
    const size_t at = frame.find(tag);
    if (at == std::string::npos || at > kDeepest || frame.size() < at + 16) continue;
    const auto flags = static_cast<uint8_t>(frame[at + 7]);
    size_t field = at + 8;
    if ((flags & kHasFrames) != 0) {
      put_big(frame, field, frames - 1);
      field += 4;
    }
    if ((flags & kHasBytes) != 0) put_big(frame, field, bytes);
  }
}

bool same_kind(FrameHeader a, FrameHeader b) { return ((a.bits ^ b.bits) & kSameBits) == 0; }

// The frames found so far.
struct Found {
  std::vector<ByteRange> ranges;
  FrameHeader kind;
  uint64_t frames = 0, bytes = 0, first_length = 0;

  bool ends_at(uint64_t at) const {
    return !ranges.empty() && at == ranges.back().offset + ranges.back().length;
  }
  void add(uint64_t at, FrameHeader header) {
    const uint64_t length = header.length();
    if (frames == 0) {
      kind = header;
      first_length = length;
    }
    if (!ends_at(at)) ranges.push_back({at, 0});
    ranges.back().length += length;
    bytes += length;
    ++frames;
  }
};

Found walk(const ByteSource& source, uint64_t start) {
  Scanner scanner(source);
  Found found;
  for (uint64_t at = start; at < source.size() && found.ranges.size() < kMaxRanges;) {
    const FrameHeader header = scanner.header(at);
    const bool usable = header.valid() && !header.free_rate() &&
                        (found.frames == 0 || same_kind(header, found.kind));
    if (!usable) {
      ++at;
      continue;
    }
    const uint64_t end = at + header.length();
    if (end > source.size()) break;
    // Sound may look like a header: a run of frames starts where another one follows.
    const FrameHeader next = scanner.header(end);
    if (!found.ends_at(at) && !(next.valid() && same_kind(header, next))) {
      ++at;
      continue;
    }
    found.add(at, header);
    at = end;
  }
  return found;
}

}  // namespace

bool is_mpeg_header(uint32_t bits) { return FrameHeader{bits}.valid(); }

std::optional<MpegFrames> find_mpeg_frames(const ByteSource& source) {
  const uint64_t start = after_tag(source);
  const FrameHeader first = Scanner(source).header(start);
  if (first.valid() && first.free_rate()) return std::nullopt;
  Found found = walk(source, start);
  // The table of contents, and two that the decoder compares.
  if (found.frames < 3) return MpegFrames{};
  MpegFrames out{std::string(static_cast<size_t>(found.first_length), '\0'),
                 std::move(found.ranges)};
  source.read_at(out.rest[0].offset, std::as_writable_bytes(std::span(out.first)));
  correct_counts(out.first, found.frames, found.bytes);
  out.rest[0].offset += found.first_length;
  out.rest[0].length -= found.first_length;
  return out;
}

}  // namespace remora::io
