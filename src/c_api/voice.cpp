#include "c_api/buffers.h"
#include "c_api/guard.h"
#include "c_api/handles.h"

using remora::c_api::guard;
using remora::c_api::required;
namespace capi = remora::c_api;

remora_status remora_voice_from_codes(const remora_model* model, const int32_t* codes,
                                      size_t n_frames, const char* transcript,
                                      size_t transcript_len, remora_voice** out) {
  return guard([&] {
    required(out, "out") = nullptr;
    const remora::engine::Model& object = *required(model, "model").object;
    const size_t count = capi::checked_count(
        n_frames, static_cast<size_t>(object.n_codebooks()), "n_frames");
    required(codes, "codes");
    *out = capi::make_handle<remora_voice>(remora::engine::Voice::from_codes(
        object, {codes, count}, static_cast<int64_t>(n_frames),
        capi::text_from(transcript, transcript_len, "transcript")));
  });
}

void remora_voice_destroy(remora_voice* voice) { capi::drop_handle(voice); }
