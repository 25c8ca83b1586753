#include "model_loading.h"

#include <charconv>
#include <chrono>
#include <cstdlib>

#include "failure.h"
#include "interrupt.h"
#include "shipped_voice.h"
#include "terminal.h"

namespace remora::cli {
namespace {

// Of --random: any will do, but reports of two machines should speak of the same weights.
constexpr uint64_t kRandomSeed = 1;

void set_device(const std::string& text, remora_model_params& params) {
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const auto fail = [&text]() -> void {
    throw Failure(kUsage, "--device: '" + text + "' is none of auto, cpu, cuda, cuda:N, mps");
  };
  if (kind == "cuda") {
    params.device = REMORA_DEVICE_CUDA;
  } else if (colon != std::string::npos) {
    fail();
  } else if (kind == "cpu") {
    params.device = REMORA_DEVICE_CPU;
  } else if (kind == "mps") {
    params.device = REMORA_DEVICE_MPS;
  } else if (kind != "auto") {
    fail();
  }
  if (colon == std::string::npos) return;
  const char* end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data() + colon + 1, end, params.device_index);
  if (error != std::errc() || last != end || params.device_index < 0) fail();
}

// Of weights. With 23 MB, two threads on two busy cores took 1.2 s for each second of sound, one
// 0.16.
constexpr uint64_t kSmallModel = 100 << 20;

int32_t REMORA_CALL on_load_progress(void* user, float fraction) {
  static_cast<Progress*>(user)->show("loading", fraction);
  return Interrupt::raised() ? 1 : 0;
}

// Where the language model's files come from; exactly one is set, or none for a codec alone.
struct Origin {
  std::string folder;
  std::unique_ptr<SyntheticCheckpoint> memory;
  std::string name;
};

Origin find_origin(const ModelOptions& options, bool codec_is_enough) {
  if (!options.random.empty()) {
    return {"",
            std::make_unique<SyntheticCheckpoint>(released_shape(options.random), kRandomSeed,
                                                  Ending::kNever),
            "random " + options.random};
  }
  if (!options.model.empty()) return {options.model, nullptr, options.model};
  if (codec_is_enough && !options.codec.empty()) return {"", nullptr, options.codec};
  if (const char* named = std::getenv("REMORA_MODEL"); named != nullptr && *named != '\0') {
    return {named, nullptr, named};
  }
  const std::string voice = shipped_voice();
  return {voice, nullptr, voice};
}

SourcePtr make_source(const ModelOptions& options, const Origin& origin) {
  remora_source* made = nullptr;
  check(remora_source_create(&made));
  SourcePtr source(made);
  if (origin.memory) {
    const remora_reader reader = origin.memory->reader();
    check(remora_source_set_reader(source.get(), &reader));
  } else if (!origin.folder.empty()) {
    check(remora_source_add_dir(source.get(), origin.folder.c_str()));
  }
  if (!options.codec.empty()) {
    check(remora_source_add_codec_dir(source.get(), options.codec.c_str()));
  }
  return source;
}

ModelPtr create_model(const ModelOptions& options, const remora_model_params& params,
                      const Origin& origin) {
  remora_model* model = nullptr;
  if (options.codec.empty() && !origin.memory) {
    check(remora_model_open(origin.folder.c_str(), &params, &model));
  } else {
    check(remora_model_create(make_source(options, origin).get(), &params, &model));
  }
  return ModelPtr(model);
}

remora_model_params make_params(const ModelOptions& options, const Origin& origin, uint32_t flags) {
  remora_model_params params;
  check(remora_model_params_init(&params, sizeof params));
  params.flags = flags;
  if (origin.folder.empty() && !origin.memory) params.flags |= REMORA_MODEL_NO_LM;
  set_device(options.device, params);
  params.dtype = options.dtype;
  params.weights = options.weights;
  params.int4_group = options.int4_group;
  params.codec_dtype = options.codec_dtype;
  return params;
}

void set_threads(const ModelOptions& options, const remora_model* model) {
  remora_memory memory = {};
  memory.struct_size = sizeof memory;
  check(remora_model_memory(model, &memory));
  const int32_t threads =
      threads_for(options, memory.weights + memory.codec, std::getenv("OMP_NUM_THREADS"));
  if (threads > 0) check(remora_set_threads(threads));
}

}  // namespace

int32_t threads_for(const ModelOptions& options, uint64_t bytes, const char* environment) {
  const bool told = options.threads > 0 || (environment != nullptr && *environment != '\0');
  return !told && bytes < kSmallModel ? 1 : 0;
}

LoadedModel load_model(const ModelOptions& options, uint32_t flags, bool codec_is_enough) {
  if (options.threads > 0) check(remora_set_threads(options.threads));
  show_library_log(options.verbose);

  Origin origin = find_origin(options, codec_is_enough);
  remora_model_params params = make_params(options, origin, flags);
  Progress progress;
  params.progress = on_load_progress;
  params.progress_user = &progress;

  LoadedModel loaded;
  loaded.name = origin.name;
  const auto start = std::chrono::steady_clock::now();
  loaded.model = create_model(options, params, origin);
  loaded.backing = std::move(origin.memory);
  loaded.load_ms = milliseconds_since(start);
  loaded.info.struct_size = sizeof loaded.info;
  check(remora_model_describe(loaded.model.get(), &loaded.info));
  set_threads(options, loaded.model.get());
  return loaded;
}

Estimate estimate_model(const ModelOptions& options, uint32_t flags, bool codec_is_enough) {
  show_library_log(options.verbose);
  const Origin origin = find_origin(options, codec_is_enough);
  const remora_model_params params = make_params(options, origin, flags);
  const SourcePtr source = make_source(options, origin);
  Estimate estimate{origin.name, {}};
  estimate.memory.struct_size = sizeof estimate.memory;
  check(remora_model_estimate(source.get(), &params, &estimate.memory));
  return estimate;
}

}  // namespace remora::cli
