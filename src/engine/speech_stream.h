// Frames in, sound out: gathers codes, decodes them in pieces and holds samples until they are
// read.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/cancel.h"
#include "codec/codec.h"
#include "codec/decode_stream.h"
#include "engine/chunk_schedule.h"

namespace remora::engine {

// One session's sound. Not thread-safe. The codec's state carries over from piece to piece, so the
// samples equal a whole decode of all frames, and their number is frames * samples_per_frame.
class SpeechStream {
 public:
  SpeechStream(std::shared_ptr<const codec::Codec> codec, int64_t first, int64_t largest);

  // One frame of codes; costs a copy only.
  void push(std::span<const int32_t> codes);
  // No more frames: what is left may be decoded as a shorter piece.
  void finish() { finished_ = true; }

  // Decodes at most one piece if enough frames have gathered, then moves up to dst.size() samples
  // out. Returns the number moved; 0 = nothing ready.
  size_t read(std::span<float> dst, const CancelFlag& cancel);
  // The samples that are ready without decoding, after decode_ready(); valid until the next call.
  std::span<const float> ready() const;
  void consume(size_t samples) { read_position_ += samples; }
  // Decodes the next piece if it has gathered; false when there is nothing to decode now.
  bool decode_ready(const CancelFlag& cancel);

  bool finished() const { return finished_; }
  // Everything was pushed, decoded and read.
  bool drained() const;
  uint64_t decode_ns() const { return decode_ns_; }
  void reset();

  void save(ByteWriter& out) const;
  // `rows` codes in a frame, of tables of `entries`. Throws Error{kFormat}, or
  // Error{kInvalidArgument} for another codec; the stream may then be in any state.
  void load(ByteReader& in, int64_t rows, int64_t entries);

 private:
  std::shared_ptr<const codec::Codec> codec_;
  codec::DecodeStream stream_;
  ChunkSchedule schedule_;
  int64_t rows_ = 0;              // codes in a frame
  std::vector<int32_t> pending_;  // frame by frame
  std::vector<float> samples_;    // decoded, not yet read from read_position_ on
  size_t read_position_ = 0;
  bool finished_ = false;
  uint64_t decode_ns_ = 0;
};

}  // namespace remora::engine
