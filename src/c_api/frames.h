// The frame struct of the ABI: room for codes in, codes out.
#pragma once

#include <algorithm>
#include <span>

#include "base/concat.h"
#include "base/error.h"
#include "c_api/params.h"
#include "engine/session.h"
#include "remora/remora.h"

namespace remora::c_api {

// Sets n_codes. Throws Error{kAbi} or Error{kBufferTooSmall}. `out` may be null, here and below.
inline void check_frame(remora_frame* out, const engine::Session& session) {
  if (out == nullptr) return;
  const auto n = static_cast<size_t>(session.n_codebooks());
  check_struct_size(out->struct_size, "frame");
  out->n_codes = static_cast<int32_t>(n);
  if (out->codes != nullptr && out->codes_capacity < n) {
    throw Error(Status::kBufferTooSmall, concat("frame.codes: has room for ", out->codes_capacity,
                                                " codes, a frame has ", n));
  }
}

inline void give_frame(std::span<const int32_t> codes, const engine::Session& session,
                       remora_frame* out) {
  if (out == nullptr) return;
  out->position = session.position() - 1;
  if (out->codes != nullptr) std::copy(codes.begin(), codes.end(), out->codes);
}

}  // namespace remora::c_api
