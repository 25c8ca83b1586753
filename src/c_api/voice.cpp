#include "c_api/buffers.h"
#include "c_api/guard.h"
#include "c_api/handles.h"
#include "c_api/sound.h"
#include "engine/voice_file.h"

using remora::c_api::guard;
using remora::c_api::required;
namespace capi = remora::c_api;

remora_status remora_voice_from_codes(const remora_model* model, const int32_t* codes,
                                      size_t n_frames, const char* transcript,
                                      size_t transcript_len, remora_voice** out) {
  return guard([&] {
    required(out, "out") = nullptr;
    const remora::engine::Model& object = *required(model, "model").object;
    const size_t count =
        capi::checked_count(n_frames, static_cast<size_t>(object.n_codebooks()), "n_frames");
    required(codes, "codes");
    *out = capi::make_handle<remora_voice>(remora::engine::Voice::from_codes(
        object, {codes, count}, static_cast<int64_t>(n_frames),
        capi::text_from(transcript, transcript_len, "transcript")));
  });
}

remora_status remora_voice_create(const remora_model* model, const float* interleaved,
                                  size_t n_frames, int32_t channels, int32_t rate,
                                  const char* transcript, size_t transcript_len,
                                  remora_voice** out) {
  return guard([&] {
    required(out, "out") = nullptr;
    *out = capi::make_handle<remora_voice>(remora::engine::voice_from_sound(
        *required(model, "model").object, capi::sound_from(interleaved, n_frames, channels, rate),
        capi::text_from(transcript, transcript_len, "transcript"), &capi::process_end()));
  });
}

remora_status remora_voice_open(const remora_model* model, const char* utf8_path,
                                const char* transcript, size_t transcript_len, remora_voice** out) {
  return guard([&] {
    required(out, "out") = nullptr;
    *out = capi::make_handle<remora_voice>(remora::engine::voice_from_file(
        *required(model, "model").object, &required(utf8_path, "utf8_path"),
        capi::text_from(transcript, transcript_len, "transcript"), &capi::process_end()));
  });
}

remora_status remora_voice_save(const remora_voice* voice, void* dst, size_t capacity,
                                size_t* needed) {
  return guard([&] {
    const std::vector<std::byte> bytes =
        remora::engine::save_voice(*required(voice, "voice").object);
    return capi::copy_out<std::byte>(bytes, static_cast<std::byte*>(dst), capacity, needed, "dst");
  });
}

remora_status remora_voice_load(const remora_model* model, const void* src, size_t len,
                                remora_voice** out) {
  return guard([&] {
    required(out, "out") = nullptr;
    const remora::engine::Model& object = *required(model, "model").object;
    const auto* bytes = &required(static_cast<const std::byte*>(src), "src");
    *out = capi::make_handle<remora_voice>(remora::engine::load_voice(object, {bytes, len}));
  });
}

void remora_voice_destroy(remora_voice* voice) { capi::drop_handle(voice, "voice"); }
