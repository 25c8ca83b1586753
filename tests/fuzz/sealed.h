// Checksums put right, so that changed bytes are not refused by these but reach the fields.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "lm/hash.h"

namespace remora::fuzz {

// The last 8 bytes become the checksum of those before them.
inline void seal(std::vector<std::byte>& bytes) {
  if (bytes.size() < sizeof(uint64_t)) return;
  const size_t body = bytes.size() - sizeof(uint64_t);
  const uint64_t sum = checksum(std::span(bytes).first(body));
  std::memcpy(bytes.data() + body, &sum, sizeof sum);
}

// The same for a saved session, whose last part, the decoder's, has one of its own: magic, version,
// checksum at 8, fingerprint, and from 24 on what is summed.
inline void seal_session(std::vector<std::byte>& bytes) {
  constexpr char kDecoder[] = {'R', 'M', 'L', 'M'};
  const auto magic = std::as_bytes(std::span(kDecoder));
  const auto found = std::find_end(bytes.begin(), bytes.end(), magic.begin(), magic.end());
  const auto left = static_cast<size_t>(bytes.end() - found);
  if (left >= 24 + sizeof(uint64_t)) {
    lm::Hash hash;
    hash.add_bytes({&*found + 24, left - 24 - sizeof(uint64_t)});
    const uint64_t sum = hash.value();
    std::memcpy(&*found + 8, &sum, sizeof sum);
  }
  seal(bytes);
}

}  // namespace remora::fuzz
