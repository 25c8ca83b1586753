#include "io/sound_bytes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "io/file_kind.h"

namespace remora::io {
namespace {

constexpr uint64_t kUnknownSize = 0xFFFFFFFF;
constexpr uint64_t kChunkHeader = 8;
constexpr uint64_t kRiffHeader = 12;
constexpr uint64_t kDs64DataSizeAt = 8;  // behind the RIFF size
constexpr size_t kMinFormat = 14;
constexpr size_t kMaxFormat = 64;
constexpr int kMaxSteps = 1 << 16;  // chunks, and two-byte steps through what is none

// Up to N first bytes of the file, zeros behind its end.
template <size_t N>
std::array<char, N> bytes_at(const ByteSource& source, uint64_t offset) {
  std::array<char, N> out{};
  if (offset >= source.size()) return out;
  const auto n = static_cast<size_t>(std::min<uint64_t>(N, source.size() - offset));
  source.read_at(offset, std::as_writable_bytes(std::span(out.data(), n)));
  return out;
}

uint64_t little(std::string_view bytes) {
  uint64_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

struct Chunk {
  std::array<char, kChunkHeader> raw;
  std::string_view id() const { return {raw.data(), 4}; }
  uint64_t size() const { return little({raw.data() + 4, 4}); }
  bool has_plain_id() const {
    return std::all_of(raw.begin(), raw.begin() + 4, [](char c) { return c >= ' ' && c < 127; });
  }
};

Chunk chunk_at(const ByteSource& source, uint64_t offset) {
  return {bytes_at<kChunkHeader>(source, offset)};
}

uint64_t padded(uint64_t size) { return size + size % 2; }

// True when whole chunks and nothing else lie from `at` to the end of the file.
bool only_chunks_follow(const ByteSource& source, uint64_t at) {
  for (int step = 0; step < kMaxSteps; ++step) {
    if (at >= source.size()) return at <= source.size() + 1;
    const Chunk chunk = chunk_at(source, at);
    if (source.size() - at < kChunkHeader || !chunk.has_plain_id()) return false;
    at += kChunkHeader + padded(chunk.size());
  }
  return false;
}

struct WavParts {
  std::string format;  // the body of the fmt chunk
  uint64_t data_at = 0;
  uint64_t data_size = 0;
};

// The claim of the data chunk, held against what the file has.
uint64_t true_data_size(const ByteSource& source, uint64_t data_at, uint64_t claim) {
  const uint64_t there = source.size() - std::min(source.size(), data_at);
  if (claim > there) return there;
  const bool unknown = claim == 0 && !only_chunks_follow(source, data_at);
  return unknown ? there : claim;
}

std::optional<WavParts> parse_wav(const ByteSource& source) {
  WavParts parts;
  uint64_t size_in_ds64 = 0;
  uint64_t at = kRiffHeader;
  for (int step = 0; step < kMaxSteps && at + kChunkHeader <= source.size(); ++step) {
    const Chunk chunk = chunk_at(source, at);
    if (!chunk.has_plain_id()) {
      at += 2;  // zeros that a recorder left in place of a chunk
      continue;
    }
    const uint64_t body = at + kChunkHeader;
    if (chunk.id() == "fmt ") {
      if (chunk.size() < kMinFormat || chunk.size() > kMaxFormat) return std::nullopt;
      parts.format.assign(bytes_at<kMaxFormat>(source, body).data(),
                          static_cast<size_t>(chunk.size()));
    } else if (chunk.id() == "ds64") {
      const auto sizes = bytes_at<kDs64DataSizeAt + 8>(source, body);
      size_in_ds64 = little({sizes.data() + kDs64DataSizeAt, 8});
    } else if (chunk.id() == "data") {
      const bool in_ds64 = chunk.size() == kUnknownSize && size_in_ds64 > 0;
      parts.data_at = body;
      parts.data_size = true_data_size(source, body, in_ds64 ? size_in_ds64 : chunk.size());
      return parts.format.empty() ? std::nullopt : std::optional(parts);
    }
    at = body + padded(chunk.size());
  }
  return std::nullopt;
}

// PCM, float, or the extensible form of either.
bool is_plain(const std::string& format) {
  constexpr uint64_t kPcm = 1, kFloat = 3, kExtensible = 0xFFFE;
  constexpr size_t kSubFormatAt = 24;
  uint64_t tag = little({format.data(), 2});
  if (tag == kExtensible && format.size() >= kSubFormatAt + 2) {
    tag = little({format.data() + kSubFormatAt, 2});
  }
  return tag == kPcm || tag == kFloat;
}

std::string four_bytes(uint64_t value) {
  std::string out;
  for (int i = 0; i < 4; ++i) out.push_back(static_cast<char>(value >> (8 * i) & 0xFF));
  return out;
}

// "RIFF", "WAVE", the format as it was, and the samples.
std::string plain_header(const WavParts& parts) {
  std::string body = "WAVEfmt " + four_bytes(parts.format.size()) + parts.format;
  if (parts.format.size() % 2 != 0) body.push_back('\0');
  body += "data" + four_bytes(parts.data_size);
  return "RIFF" + four_bytes(body.size() + parts.data_size) + body;
}

// Nothing for a file that is left to the decoder: compressed, big-endian (RIFX), without the parts,
// or larger than 32 bits can say (RF64).
std::optional<WavParts> plain_wav(const ByteSource& source) {
  const std::array<char, 4> riff = bytes_at<4>(source, 0);
  if (std::string_view(riff.data(), riff.size()) == "RIFX") return std::nullopt;
  std::optional<WavParts> parts = parse_wav(source);
  if (!parts || !is_plain(parts->format)) return std::nullopt;
  if (parts->data_size > kUnknownSize - kMaxFormat - 64) return std::nullopt;
  return parts;
}

bool is_mpeg_frame(std::string_view head) {
  uint32_t bits = 0;
  for (size_t i = 0; i < 4; ++i) bits = bits << 8 | static_cast<uint8_t>(head[i]);
  return is_mpeg_header(bits);
}

}  // namespace

SoundBytes::SoundBytes(std::string head, std::shared_ptr<const ByteSource> source,
                       const std::vector<ByteRange>& ranges)
    : head_(std::move(head)), source_(std::move(source)), size_(head_.size()) {
  for (const ByteRange& range : ranges) {
    pieces_.push_back({size_, range});
    size_ += range.length;
  }
}

size_t SoundBytes::read_at(uint64_t at, std::span<std::byte> dst) const {
  if (at >= size_) return 0;
  dst = dst.first(static_cast<size_t>(std::min<uint64_t>(dst.size(), size_ - at)));
  const size_t wanted = dst.size();
  if (at < head_.size()) {
    const size_t n = std::min<size_t>(dst.size(), head_.size() - static_cast<size_t>(at));
    std::memcpy(dst.data(), head_.data() + at, n);
    dst = dst.subspan(n);
    at += n;
  }
  auto piece = std::upper_bound(pieces_.begin(), pieces_.end(), at,
                                [](uint64_t value, const Piece& p) { return value < p.start; });
  if (piece != pieces_.begin()) --piece;
  for (; !dst.empty(); ++piece) {
    const uint64_t skip = at - piece->start;
    const auto n = static_cast<size_t>(std::min<uint64_t>(dst.size(), piece->range.length - skip));
    source_->read_at(piece->range.offset + skip, dst.first(n));
    dst = dst.subspan(n);
    at += n;
  }
  return wanted;
}

std::string_view sound_kind(const ByteSource& source) {
  const auto raw = bytes_at<12>(source, 0);
  const std::string_view head(raw.data(), raw.size());
  const std::string_view form = head.substr(8);
  if ((head.starts_with("RIFF") || head.starts_with("RIFX") || head.starts_with("RF64")) &&
      form == "WAVE") {
    return "WAV";
  }
  if (head.starts_with("FORM") && (form == "AIFF" || form == "AIFC")) return "AIFF";
  if (head.starts_with("fLaC")) return "FLAC";
  if (head.starts_with("OggS")) return "OGG";
  if (head.starts_with(".snd")) return "AU";
  if (head.starts_with("caff")) return "CAF";
  if (head.starts_with("ID3") || is_mpeg_frame(head)) return "MP3";
  return "";
}

std::string_view other_kind(const ByteSource& source) {
  switch (file_kind(source)) {
    case FileKind::kEmpty:
      return "an empty file";
    case FileKind::kLfsPointer:
      return "a Git LFS pointer (fetch the real file with `git lfs pull`)";
    case FileKind::kWebPage:
      return "a web page";
    default:
      break;
  }
  const auto raw = bytes_at<12>(source, 0);
  const std::string_view head(raw.data(), raw.size());
  if (head.substr(4, 4) == "ftyp") return "an MP4 or M4A file";
  if (head.starts_with("\x1A\x45\xDF\xA3")) return "a WebM or Matroska file";
  if (head.starts_with("\x30\x26\xB2\x75")) return "a Windows Media file";
  const bool text = std::all_of(head.begin(), head.end(), [](char c) {
    return (c >= ' ' && c < 127) || c == '\n' || c == '\r' || c == '\t' || c == '\0';
  });
  return text ? "a text file" : "no sound file of a known kind";
}

SoundBytes sound_bytes(std::shared_ptr<const ByteSource> source) {
  const std::string_view kind = sound_kind(*source);
  if (kind == "MP3") {
    if (auto frames = find_mpeg_frames(*source)) {
      return SoundBytes(std::move(frames->first), std::move(source), frames->rest);
    }
  }
  if (kind == "WAV") {
    if (auto parts = plain_wav(*source)) {
      const ByteRange samples{parts->data_at, parts->data_size};
      return SoundBytes(plain_header(*parts), std::move(source), {samples});
    }
  }
  const ByteRange whole{0, source->size()};
  return SoundBytes("", std::move(source), {whole});
}

}  // namespace remora::io
