#include <ATen/ops/from_blob.h>

#include "c_api/buffers.h"
#include "c_api/guard.h"
#include "c_api/handles.h"
#include "c_api/sound.h"

using remora::c_api::guard;
using remora::c_api::required;
namespace capi = remora::c_api;
namespace engine = remora::engine;

namespace {

// The caller's codes as a tensor that borrows them. [n_codebooks, n_frames]
at::Tensor borrow_codes(const engine::Model& model, const int32_t* codes, size_t n_frames) {
  const auto rows = static_cast<size_t>(model.n_codebooks());
  capi::checked_count(n_frames, rows, "n_frames");
  if (n_frames > 0) required(codes, "codes");
  return at::from_blob(const_cast<int32_t*>(codes),
                       {static_cast<int64_t>(rows), static_cast<int64_t>(n_frames)},
                       at::TensorOptions().dtype(at::kInt));
}

size_t samples_of(const remora::codec::Codec& codec, size_t n_frames) {
  return capi::checked_count(n_frames, static_cast<size_t>(codec.config().frame_length()),
                             "n_frames");
}

std::span<const float> samples(const at::Tensor& pcm) {
  return {pcm.const_data_ptr<float>(), static_cast<size_t>(pcm.numel())};
}

}  // namespace

remora_status remora_codec_encode(const remora_model* model, const float* interleaved,
                                  size_t n_frames, int32_t channels, int32_t rate, int32_t* codes,
                                  size_t capacity, size_t* needed) {
  return guard([&]() -> remora_status {
    const engine::Model& object = *required(model, "model").object;
    const engine::Sound sound = capi::sound_from(interleaved, n_frames, channels, rate);
    const size_t size = engine::encoded_size(object, n_frames, rate);
    if (capi::asks_size(codes, capacity, size, needed, "codes")) return REMORA_OK;
    const at::Tensor encoded = engine::encode(object, sound, &capi::process_end());
    const std::span<const int32_t> result{encoded.const_data_ptr<int32_t>(),
                                          static_cast<size_t>(encoded.numel())};
    return capi::copy_out(result, codes, capacity, needed, "codes");
  });
}

remora_status remora_codec_decode(const remora_model* model, const int32_t* codes, size_t n_frames,
                                  float* pcm, size_t capacity, size_t* needed) {
  return guard([&]() -> remora_status {
    const engine::Model& object = *required(model, "model").object;
    const auto codec = object.codec();
    const size_t size = samples_of(*codec, n_frames);
    if (capi::asks_size(pcm, capacity, size, needed, "pcm")) return REMORA_OK;
    const at::Tensor decoded =
        codec->decode(borrow_codes(object, codes, n_frames), &capi::process_end());
    return capi::copy_out(samples(decoded), pcm, capacity, needed, "pcm");
  });
}

remora_status remora_codec_stream_create(const remora_model* model, remora_codec_stream** out) {
  return guard([&] {
    required(out, "out") = nullptr;
    const auto object = required(model, "model").object;
    *out = capi::make_handle<remora_codec_stream>(object,
                                                  remora::codec::DecodeStream(object->codec()));
  });
}

remora_status remora_codec_stream_push(remora_codec_stream* stream, const int32_t* codes,
                                       size_t n_frames, float* pcm, size_t capacity,
                                       size_t* needed) {
  return guard([&]() -> remora_status {
    remora_codec_stream& object = required(stream, "stream");
    const size_t size = samples_of(*object.model->codec(), n_frames);
    if (capi::asks_size(pcm, capacity, size, needed, "pcm")) return REMORA_OK;
    const at::Tensor decoded =
        object.stream.push(borrow_codes(*object.model, codes, n_frames), &capi::process_end());
    return capi::copy_out(samples(decoded), pcm, capacity, needed, "pcm");
  });
}

remora_status remora_codec_stream_reset(remora_codec_stream* stream) {
  return guard([&] { required(stream, "stream").stream.reset(); });
}

void remora_codec_stream_destroy(remora_codec_stream* stream) {
  capi::drop_handle(stream, "stream");
}
