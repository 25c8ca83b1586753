// The frames of an MPEG audio file (MP3), without the tags and the junk around them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/byte_source.h"

namespace remora::io {

struct ByteRange {
  uint64_t offset = 0;
  uint64_t length = 0;
};

struct MpegFrames {
  // The first frame; where it holds an encoder's table of contents (no sound), its counts of
  // frames and bytes are put right.
  std::string first;
  std::vector<ByteRange> rest;
};

// True for the 32 bits (first byte highest) that start a frame.
bool is_mpeg_header(uint32_t bits);

// Whole frames of one kind (version, layer, rate) and nothing else: what lies between is passed
// over, a frame that the end of the file cuts is left out. `first` is empty where there are no
// three frames; nothing at all comes back for a file of the free bit rate, whose frames tell no
// length.
std::optional<MpegFrames> find_mpeg_frames(const ByteSource& source);

}  // namespace remora::io
