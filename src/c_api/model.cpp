#include <algorithm>
#include <functional>

#include "c_api/buffers.h"
#include "c_api/enums.h"
#include "c_api/guard.h"
#include "c_api/handles.h"
#include "c_api/params.h"
#include "c_api/requests.h"

using remora::c_api::guard;
using remora::c_api::required;
namespace capi = remora::c_api;
namespace engine = remora::engine;

namespace {

constexpr uint32_t kModelFlags = REMORA_MODEL_NO_ENCODER | REMORA_MODEL_NO_CODEC |
                                 REMORA_MODEL_NO_LM | REMORA_MODEL_TEXT_ONLY |
                                 REMORA_MODEL_WEIGHT_ERRORS;

remora_model_params default_params() {
  remora_model_params params{};
  params.struct_size = sizeof params;
  return params;
}

// Whether the caller, or the end of the process, wants work to stop.
std::function<bool(float)> stop_by(remora_progress_fn fn, void* user) {
  return [fn, user](float fraction) {
    return capi::process_end().raised() || (fn != nullptr && fn(user, fraction) != 0);
  };
}

// For a char array of the ABI, NUL-terminated and cut where it must be.
template <size_t n>
void copy_text(std::string_view text, char (&out)[n]) {
  std::copy_n(text.data(), std::min(text.size(), n - 1), out);
}

engine::ModelOptions options_from(const remora_model_params* user) {
  const auto params = capi::read_struct(user, default_params(), "model_params");
  capi::check_flags(params.flags, kModelFlags, "model_params.flags");
  capi::check_enum(params.weights, REMORA_WEIGHTS_AS_DTYPE, REMORA_WEIGHTS_INT4,
                   "model_params.weights");
  engine::ModelOptions options;
  options.want_lm = (params.flags & REMORA_MODEL_NO_LM) == 0;
  options.want_codec = (params.flags & REMORA_MODEL_NO_CODEC) == 0;
  options.want_encoder = (params.flags & REMORA_MODEL_NO_ENCODER) == 0;
  options.text_only = (params.flags & REMORA_MODEL_TEXT_ONLY) != 0;
  options.dtype = capi::dtype_from(params.dtype, "model_params.dtype");
  options.codec_dtype = capi::dtype_from(params.codec_dtype, "model_params.codec_dtype");
  options.device = capi::device_from(params.device, params.device_index);
  options.weights = static_cast<remora::lm::Weights>(params.weights);
  options.int4_group = params.int4_group;
  options.measure_errors = (params.flags & REMORA_MODEL_WEIGHT_ERRORS) != 0;
  options.progress = stop_by(params.progress, params.progress_user);
  return options;
}

remora_model_info describe(const engine::Model& model) {
  remora_model_info info{};
  info.struct_size = sizeof info;
  info.n_codebooks = model.n_codebooks();
  if (model.has_lm()) {
    const auto& config = model.lm_config();
    info.codebook_size = static_cast<int32_t>(config.codebook_size);
    info.max_seq_len = static_cast<int32_t>(config.max_seq_len);
    info.vocab_size = static_cast<int32_t>(config.vocab_size);
    info.semantic_begin = model.tokenizer().semantic_begin();
    info.semantic_end = model.tokenizer().semantic_end();
    info.end_token = model.tokenizer().end_token();
    info.has_lm = 1;
  }
  if (model.has_codec()) {
    const auto codec = model.codec();
    info.sample_rate = static_cast<int32_t>(codec->config().sample_rate);
    info.samples_per_frame = static_cast<int32_t>(codec->config().frame_length());
    info.has_codec = 1;
    info.has_encoder = codec->has_encoder() ? 1 : 0;
  }
  info.device = capi::device_to(model.device());
  info.device_index = std::max<int32_t>(model.device().index(), 0);
  info.dtype = capi::dtype_to(model.dtype());
  info.weights = static_cast<remora_weights>(model.weights());
  info.codec_dtype = capi::dtype_to(model.codec_dtype());
  copy_text(model.family_name(), info.family);
  info.int4_group = model.int4_group();
  info.saved_weights = model.weights_were_saved() ? 1 : 0;
  return info;
}

remora_weight_error error_to(const remora::lm::LayerError& from) {
  remora_weight_error error{};
  error.struct_size = sizeof error;
  error.int4_group = static_cast<int32_t>(from.format.group);
  error.weights = error.int4_group != 0 ? REMORA_WEIGHTS_INT4 : REMORA_WEIGHTS_INT8;
  error.relative_error = static_cast<float>(from.error.relative());
  error.numbers = from.error.numbers;
  error.largest_error = static_cast<float>(from.error.largest);
  error.largest_number = static_cast<float>(from.error.size);
  copy_text(from.layer, error.layer);
  return error;
}

remora_memory memory_to(const engine::ModelMemory& from) {
  remora_memory memory{};
  memory.struct_size = sizeof memory;
  memory.weights = from.weights;
  memory.codec = from.codec;
  memory.kv_per_position = from.kv_per_position;
  return memory;
}

}  // namespace

remora_status remora_model_params_init(remora_model_params* params, uint32_t struct_size) {
  return guard([&] {
    capi::write_struct(&required(params, "params"), default_params(), struct_size, "model_params");
  });
}

remora_status remora_model_open(const char* utf8_dir, const remora_model_params* params,
                                remora_model** out) {
  return guard([&] {
    required(out, "out") = nullptr;
    const auto files = remora::io::open_directory(&required(utf8_dir, "utf8_dir"));
    *out = capi::make_handle<remora_model>(engine::Model::load(*files, options_from(params)));
  });
}

remora_status remora_model_create(remora_source* source, const remora_model_params* params,
                                  remora_model** out) {
  return guard([&] {
    required(out, "out") = nullptr;
    const auto files = required(source, "source").files;  // kept if a callback destroys the source
    *out = capi::make_handle<remora_model>(engine::Model::load(*files, options_from(params)));
  });
}

remora_status remora_model_estimate(remora_source* source, const remora_model_params* params,
                                    remora_memory* out) {
  return guard([&] {
    const remora::io::FileSet& files = *required(source, "source").files;
    capi::check_struct_size(required(out, "out").struct_size, "memory");
    const engine::ModelMemory memory = engine::Model::estimate(files, options_from(params));
    capi::write_struct(out, memory_to(memory), out->struct_size, "memory");
  });
}

remora_status remora_model_describe(const remora_model* model, remora_model_info* out) {
  return guard([&] {
    const engine::Model& object = *required(model, "model").object;
    capi::write_struct(&required(out, "out"), describe(object), out->struct_size, "model_info");
  });
}

remora_status remora_model_memory(const remora_model* model, remora_memory* out) {
  return guard([&] {
    const engine::ModelMemory memory = required(model, "model").object->memory();
    capi::write_struct(&required(out, "out"), memory_to(memory), out->struct_size, "memory");
  });
}

remora_status remora_model_tokenize(const remora_model* model, const char* utf8, size_t len,
                                    uint32_t flags, int32_t* ids, size_t capacity, size_t* needed) {
  return guard([&] {
    capi::check_flags(flags, REMORA_PROMPT_ALLOW_CONTROL, "flags");
    const std::vector<int32_t> encoded =
        required(model, "model")
            .object->tokenizer()
            .encode(capi::text_from(utf8, len, "utf8"), capi::control_from(flags));
    return capi::copy_out<int32_t>(encoded, ids, capacity, needed, "ids");
  });
}

remora_status remora_model_prompt(const remora_model* model, const remora_prompt* prompt,
                                  int32_t* tokens, size_t capacity, size_t* needed) {
  return guard([&] {
    const auto& object = required(model, "model").object;
    const remora::text::Columns columns =
        engine::first_prompt(object, capi::request_from(*object, required(prompt, "prompt")));
    const std::vector<int32_t> matrix = capi::row_major(columns);
    return capi::copy_out<int32_t>(matrix, tokens, capacity, needed, "tokens");
  });
}

remora_status remora_model_save_weights(const remora_model* model, const char* utf8_path,
                                        remora_progress_fn progress, void* user) {
  return guard([&] {
    const auto object = required(model, "model").object;  // kept if a callback destroys the model
    object->save_weights(&required(utf8_path, "utf8_path"), stop_by(progress, user));
  });
}

remora_status remora_model_weight_error(const remora_model* model, size_t index,
                                        remora_weight_error* out) {
  return guard([&] {
    const auto errors = required(model, "model").object->weight_errors();
    capi::check_struct_size(required(out, "out").struct_size, "weight_error");
    if (index >= errors.size()) return REMORA_END;
    capi::write_struct(out, error_to(errors[index]), out->struct_size, "weight_error");
    return REMORA_OK;
  });
}

void remora_model_destroy(remora_model* model) { capi::drop_handle(model, "model"); }
