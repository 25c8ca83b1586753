#include "base/concat.h"
#include "c_api/buffers.h"
#include "c_api/enums.h"
#include "c_api/frames.h"
#include "c_api/guard.h"
#include "c_api/handles.h"
#include "c_api/params.h"
#include "c_api/requests.h"

using remora::c_api::guard;
using remora::c_api::required;
using remora::c_api::SessionCell;
namespace capi = remora::c_api;
namespace engine = remora::engine;

namespace {

remora_session_params default_session_params() {
  const engine::SessionOptions defaults;
  remora_session_params params{};
  params.struct_size = sizeof params;
  params.codec_chunk_first = static_cast<int32_t>(defaults.chunk_first);
  params.codec_chunk_next = static_cast<int32_t>(defaults.chunk_next);
  return params;
}

remora_sampling default_sampling() {
  const engine::Sampling defaults;
  remora_sampling sampling{};
  sampling.struct_size = sizeof sampling;
  sampling.temperature = defaults.draw.temperature;
  sampling.top_p = defaults.draw.top_p;
  sampling.top_k = defaults.draw.top_k;
  sampling.max_frames = defaults.max_frames;
  sampling.max_frames_per_byte = defaults.max_frames_per_byte;
  sampling.ras_window = defaults.draw.ras_window;
  sampling.seed = defaults.seed.value_or(REMORA_SEED_RANDOM);
  return sampling;
}

engine::SessionOptions options_from(const remora_session_params* user) {
  const auto params = capi::read_struct(user, default_session_params(), "session_params");
  capi::check_flags(params.flags, REMORA_SESSION_KEEP_LOGITS, "session_params.flags");
  capi::check_enum(params.kv_mode, REMORA_KV_ACTIVE_PREFIX, REMORA_KV_GRAPH,
                   "session_params.kv_mode");
  capi::check_enum(params.sdpa, REMORA_SDPA_AUTO, REMORA_SDPA_CUDNN, "session_params.sdpa");
  engine::SessionOptions options;
  options.decoder.capacity = params.capacity;
  options.decoder.kv_mode = static_cast<remora::nn::KvMode>(params.kv_mode);
  options.decoder.sdpa = static_cast<remora::nn::SdpaPolicy>(params.sdpa);
  options.chunk_first = params.codec_chunk_first;
  options.chunk_next = params.codec_chunk_next;
  options.keep_logits = (params.flags & REMORA_SESSION_KEEP_LOGITS) != 0;
  return options;
}

engine::Sampling sampling_from(const remora_sampling& user) {
  const auto from = capi::read_struct(&user, default_sampling(), "sampling");
  capi::check_flags(from.flags, 0, "sampling.flags");
  engine::Sampling sampling;
  sampling.draw.temperature = from.temperature;
  sampling.draw.top_p = from.top_p;
  sampling.draw.top_k = from.top_k;
  sampling.draw.repetition_penalty = from.repetition_penalty;
  sampling.draw.ras_window = from.ras_window;
  sampling.max_frames = from.max_frames;
  sampling.max_frames_per_byte = from.max_frames_per_byte;
  sampling.seed = from.seed;
  if (from.seed == REMORA_SEED_RANDOM) sampling.seed.reset();
  return sampling;
}

remora_stats stats_from(const engine::SessionStats& from) {
  remora_stats stats{};
  stats.struct_size = sizeof stats;
  stats.finish = static_cast<remora_finish>(from.finish);
  stats.sdpa_prefill = static_cast<remora_sdpa_policy>(from.decoder.sdpa_prefill);
  stats.sdpa_step = static_cast<remora_sdpa_policy>(from.decoder.sdpa_step);
  stats.kv_mode = static_cast<remora_kv_mode>(from.decoder.kv_mode);
  stats.kv_len = static_cast<int32_t>(from.kv_len);
  stats.kv_capacity = static_cast<int32_t>(from.decoder.capacity);
  stats.seed = from.seed;
  stats.prompt_tokens = from.prompt_columns;
  stats.reused_tokens = from.reused_columns;
  stats.frames = from.frames;
  stats.samples = from.samples;
  stats.kv_bytes = from.decoder.kv_bytes;
  stats.graph_captures = from.decoder.graph_captures;
  stats.text_done = from.text_done;
  stats.pieces_done = from.pieces_done;
  stats.pieces = from.pieces;
  stats.prefill_ns = from.prefill_ns;
  stats.first_audio_ns = from.first_audio_ns;
  stats.step_ns = from.step_ns;
  stats.codec_ns = from.codec_ns;
  return stats;
}

// Enters the session for one call; the cell outlives a destroy from inside a callback.
template <typename Body>
remora_status with_session(const remora_session* handle, Body&& body) {
  return guard([&] {
    const std::shared_ptr<SessionCell> cell = required(handle, "session").cell;
    const engine::UseGate::Visit visit(cell->gate);
    const capi::ActiveSession active(*cell->session);
    return body(*cell->session);
  });
}

}  // namespace

remora_status remora_session_params_init(remora_session_params* params, uint32_t struct_size) {
  return guard([&] {
    capi::write_struct(&required(params, "params"), default_session_params(), struct_size,
                       "session_params");
  });
}

remora_status remora_sampling_init(remora_sampling* sampling, uint32_t struct_size) {
  return guard([&] {
    capi::write_struct(&required(sampling, "sampling"), default_sampling(), struct_size,
                       "sampling");
  });
}

remora_status remora_prompt_init(remora_prompt* prompt, uint32_t struct_size) {
  return guard([&] {
    capi::write_struct(&required(prompt, "prompt"), capi::default_prompt(), struct_size, "prompt");
  });
}

remora_status remora_session_create(const remora_model* model, const remora_session_params* params,
                                    remora_session** out) {
  return guard([&] {
    required(out, "out") = nullptr;
    *out = capi::make_handle<remora_session>(std::make_shared<SessionCell>(
        std::make_unique<engine::Session>(required(model, "model").object, options_from(params))));
  });
}

remora_status remora_session_warmup(remora_session* session) {
  return with_session(session, [](engine::Session& object) {
    object.warmup();
    return REMORA_OK;
  });
}

remora_status remora_session_set_sampling(remora_session* session,
                                          const remora_sampling* sampling) {
  return with_session(session, [&](engine::Session& object) {
    object.set_sampling(sampling_from(required(sampling, "sampling")));
    return REMORA_OK;
  });
}

remora_status remora_session_prefill(remora_session* session, const remora_prompt* prompt) {
  return with_session(session, [&](engine::Session& object) {
    object.prefill(capi::request_from(object.model(), required(prompt, "prompt")));
    return REMORA_OK;
  });
}

remora_status remora_session_step(remora_session* session, remora_frame* out) {
  return with_session(session, [&](engine::Session& object) -> remora_status {
    capi::check_frame(out, object);
    const auto codes = object.step();
    if (!codes) return REMORA_END;
    capi::give_frame(*codes, object, out);
    return REMORA_OK;
  });
}

remora_status remora_session_logits(const remora_session* session, int32_t codebook, float* out,
                                    size_t capacity, size_t* needed) {
  return with_session(session, [&](engine::Session& object) {
    const std::vector<float> logits = object.logits(codebook);
    return capi::copy_out<float>(logits, out, capacity, needed, "out");
  });
}

remora_status remora_session_read_pcm(remora_session* session, float* dst, size_t capacity,
                                      size_t* written) {
  if (written != nullptr) *written = 0;
  return with_session(session, [&](engine::Session& object) -> remora_status {
    if (capacity > 0) required(dst, "dst");
    bool over = false;
    required(written, "written") = object.read_pcm({dst, capacity}, over);
    return over ? REMORA_END : REMORA_OK;
  });
}

remora_status remora_session_generate(remora_session* session, const remora_prompt* prompt,
                                      remora_audio_fn on_audio, void* user) {
  return with_session(session, [&](engine::Session& object) {
    const auto& call = required(on_audio, "on_audio");
    object.generate(capi::request_from(object.model(), required(prompt, "prompt")),
                    [&](std::span<const float> pcm, bool last) {
                      return call(user, pcm.data(), pcm.size(), last ? 1 : 0) != 0;
                    });
    return REMORA_OK;
  });
}

void remora_session_cancel(remora_session* session) {
  if (capi::usable(session, "session")) session->cell->session->cancel();
}

remora_status remora_session_reset(remora_session* session) {
  return with_session(session, [](engine::Session& object) {
    object.reset();
    return REMORA_OK;
  });
}

int64_t remora_session_position(const remora_session* session) {
  int64_t position = 0;
  const remora_status status = with_session(session, [&](engine::Session& object) {
    position = object.position();
    return REMORA_OK;
  });
  return status == REMORA_OK ? position : status;
}

remora_status remora_session_rewind(remora_session* session, int64_t position) {
  return with_session(session, [&](engine::Session& object) {
    object.rewind(position);
    return REMORA_OK;
  });
}

remora_status remora_session_clone(const remora_session* session, remora_session** out) {
  return with_session(session, [&](engine::Session& object) {
    required(out, "out") = nullptr;
    *out = capi::make_handle<remora_session>(std::make_shared<SessionCell>(object.clone()));
    return REMORA_OK;
  });
}

remora_status remora_session_save(const remora_session* session, void* dst, size_t capacity,
                                  size_t* needed) {
  return with_session(session, [&](engine::Session& object) {
    const std::vector<std::byte> bytes = object.save();
    return capi::copy_out<std::byte>(bytes, static_cast<std::byte*>(dst), capacity, needed, "dst");
  });
}

remora_status remora_session_load(remora_session* session, const void* src, size_t len) {
  return with_session(session, [&](engine::Session& object) {
    object.load({&required(static_cast<const std::byte*>(src), "src"), len});
    return REMORA_OK;
  });
}

remora_status remora_session_stats(const remora_session* session, remora_stats* out) {
  return with_session(session, [&](engine::Session& object) {
    capi::write_struct(&required(out, "out"), stats_from(object.stats()), out->struct_size,
                       "stats");
    return REMORA_OK;
  });
}

void remora_session_destroy(remora_session* session) {
  const capi::CallInProgress call;
  if (capi::process_is_over() || !capi::usable(session, "session")) return;
  session->cell->session->cancel();
  session->cell->gate.wait_until_free();
  capi::drop_handle(session, "session");
}
