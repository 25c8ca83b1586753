// Voices as bytes: made once from sound, then loaded in microseconds.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "engine/voice.h"

namespace remora::engine {

// Layout, all little-endian (docs/voices.md):
//   8 bytes  "RMRVOICE"
//   u32      version, 2
//   u32      codebooks
//   u32      entries of a code table
//   u32      bytes of a code: 2
//   u64      fingerprint of the codec (Codec::fingerprint), 0 = not known
//   u64      frames
//   u64      bytes of the transcript, then the transcript in UTF-8
//   u16...   codes [codebooks, frames]
//   u64      FNV-1a of everything before
std::vector<std::byte> save_voice(const Voice& voice);

// Throws Error{kFormat} for bytes that are no voice, damaged, cut or of another version;
// Error{kInvalidArgument} when the voice was made for a model of another shape or with another
// codec. A voice keeps the codec that it was made with, also in a model without one.
std::shared_ptr<const Voice> load_voice(const Model& model, std::span<const std::byte> bytes);

}  // namespace remora::engine
