#include "bench/frame_bytes.h"

#include <algorithm>
#include <filesystem>

#include "failure.h"
#include "files.h"
#include "report.h"

namespace remora::cli {
namespace {

constexpr uint64_t kMaxConfigBytes = 16 << 20;
constexpr int64_t kReleasedEntries = 1024;

int64_t number(const Json& object, const std::string& key, int64_t fallback = 0) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number_integer() ? found->get<int64_t>() : fallback;
}

// `like` fills in what a stack does not say itself.
StackShape stack_from(const Json& object, const std::string& prefix, const StackShape& like) {
  StackShape stack;
  stack.dim = number(object, prefix + "dim", like.dim);
  stack.n_head = number(object, prefix + "n_head", like.n_head);
  stack.n_kv_head = number(object, prefix + "n_local_heads", like.n_kv_head);
  if (stack.n_kv_head <= 0) stack.n_kv_head = stack.n_head;
  stack.head_dim = number(object, prefix + "head_dim", like.head_dim);
  stack.intermediate = number(object, prefix + "intermediate_size", like.intermediate);
  return stack;
}

// Weights that one pass through the layers of a stack multiplies with.
int64_t layer_weights(const StackShape& stack) {
  const int64_t heads = stack.n_head + 2 * stack.n_kv_head;
  const int64_t attention = (heads + stack.n_head) * stack.head_dim * stack.dim;
  return stack.n_layer * (attention + 3 * stack.intermediate * stack.dim);
}

struct WeightSize {
  double slow = 0;  // bytes of one weight
  double fast = 0;
};

WeightSize weight_size(const remora_model_info& info) {
  // 4-bit weights carry a 16-bit scale for each group; the fast model keeps 8 bits then.
  if (info.weights == REMORA_WEIGHTS_INT4) return {0.5 + 2.0 / info.int4_group, 1};
  if (info.weights == REMORA_WEIGHTS_INT8) return {1, 1};
  return info.dtype == REMORA_DTYPE_F32 ? WeightSize{4, 4} : WeightSize{2, 2};
}

// A file of a checkpoint's folder; "" where there is none.
std::string text_in(const std::string& folder, const char* name) {
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return {};
  return read_file(path.string(), kMaxConfigBytes);
}

LmShape shape_of(const LoadedModel& model, const ModelOptions& options) {
  if (!options.random.empty()) return released_shape(options.random).lm;
  return shape_from_config(text_in(model.name, "config.json"));
}

int64_t residual_entries_of(const LoadedModel& model, const ModelOptions& options) {
  if (!options.random.empty()) return released_shape(options.random).codec.codebook_size;
  const std::string& folder = options.codec.empty() ? model.name : options.codec;
  return residual_entries_from_config(text_in(folder, "codec.json"));
}

}  // namespace

LmShape shape_from_config(const std::string& json_text) {
  const Json json = Json::parse(json_text, nullptr, false);
  LmShape shape;
  if (!json.is_object()) return shape;
  const auto text = json.find("text_config");
  const auto audio = json.find("audio_decoder_config");
  if (text != json.end() && audio != json.end()) {
    shape.slow = stack_from(*text, "", {});
    shape.slow.n_layer = number(*text, "n_layer");
    shape.fast = stack_from(*audio, "", shape.slow);
    shape.fast.n_layer = number(*audio, "n_layer");
    shape.codebook_size = number(*audio, "vocab_size");
    shape.n_codebooks = number(*audio, "num_codebooks");
  } else {
    shape.slow = stack_from(json, "", {});
    shape.slow.n_layer = number(json, "n_layer");
    shape.fast = stack_from(json, "fast_", shape.slow);
    shape.fast.n_layer = number(json, "n_fast_layer");
    shape.codebook_size = number(json, "codebook_size");
    shape.n_codebooks = number(json, "num_codebooks");
  }
  return shape;
}

int64_t residual_entries_from_config(const std::string& json_text) {
  const Json json = Json::parse(json_text, nullptr, false);
  if (!json.is_object()) return kReleasedEntries;
  const auto quantizer = json.find("quantizer");
  if (quantizer == json.end() || !quantizer->is_object()) return kReleasedEntries;
  return number(*quantizer, "codebook_size", kReleasedEntries);
}

FrameWeights weights_per_frame(const LmShape& shape, int64_t residual_entries) {
  if (layer_weights(shape.slow) <= 0 || layer_weights(shape.fast) <= 0) return {};
  const int64_t residual_head = std::min(shape.codebook_size, residual_entries) * shape.fast.dim;
  return {
      .slow = layer_weights(shape.slow) + (shape.codebook_size + 1) * shape.slow.dim,
      .fast =
          shape.n_codebooks * layer_weights(shape.fast) + (shape.n_codebooks - 1) * residual_head,
  };
}

uint64_t bytes_per_frame(const LoadedModel& model, const ModelOptions& options, int64_t prefix) {
  const FrameWeights weights =
      weights_per_frame(shape_of(model, options), residual_entries_of(model, options));
  if (weights.slow == 0) return 0;
  remora_memory memory = {};
  memory.struct_size = sizeof memory;
  check(remora_model_memory(model.model.get(), &memory));
  const WeightSize size = weight_size(model.info);
  const double bytes =
      static_cast<double>(weights.slow) * size.slow + static_cast<double>(weights.fast) * size.fast;
  return static_cast<uint64_t>(bytes) + memory.kv_per_position * static_cast<uint64_t>(prefix);
}

}  // namespace remora::cli
