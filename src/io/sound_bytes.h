// The bytes that go to the sound decoder: those of the file, put right where files are often wrong.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.h"
#include "io/mpeg_frames.h"

namespace remora::io {

// `head`, then ranges of `source`, one after the other.
class SoundBytes {
 public:
  SoundBytes(std::string head, std::shared_ptr<const ByteSource> source,
             const std::vector<ByteRange>& ranges);

  uint64_t size() const { return size_; }
  // Fewer bytes at the end.
  size_t read_at(uint64_t at, std::span<std::byte> dst) const;

 private:
  struct Piece {
    uint64_t start;  // among these bytes
    ByteRange range;
  };
  std::string head_;
  std::shared_ptr<const ByteSource> source_;
  std::vector<Piece> pieces_;
  uint64_t size_ = 0;
};

// "WAV", "MP3", ...: the kind that the first bytes tell, of those that are read; else empty.
std::string_view sound_kind(const ByteSource& source);

// What a file is that is no sound file, for a message: "an MP4 file", "a text file" or the like.
std::string_view other_kind(const ByteSource& source);

// The bytes that the decoder does best with. PCM and float WAV: a plain header of true sizes and
// the samples, since sizes are often wrong (0, 0xFFFFFFFF, too large) in files that come from
// streams and recorders. MP3: its whole frames, since the decoder prints warnings about tags and
// junk. Anything else: the file as it is.
SoundBytes sound_bytes(std::shared_ptr<const ByteSource> source);

}  // namespace remora::io
