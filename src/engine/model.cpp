#include "engine/model.h"

#include <algorithm>

#include "base/cancel.h"
#include "base/concat.h"
#include "base/error.h"
#include "base/log.h"
#include "lm/save_weights.h"

namespace remora::engine {
namespace {

// Of the progress of a load: first the tokenizer, then the codec, then the rest.
constexpr float kTextShare = 0.02F;
constexpr float kCodecShare = 0.1F;
// Rounding the weights to 8 or 4 bits costs far more than this does.
constexpr at::ScalarType kQuantisedDtype = at::kBFloat16;
constexpr double kFloat32Limit = 4.0 * 1024 * 1024 * 1024;  // bytes

double stack_parameters(const lm::StackConfig& stack) {
  const double attention =
      static_cast<double>(stack.qkv_rows() + stack.heads * stack.head_dim) * stack.dim;
  const double feed_forward = 3.0 * static_cast<double>(stack.intermediate) * stack.dim;
  return static_cast<double>(stack.layers) * (attention + feed_forward);
}

[[noreturn]] void lacks(std::string_view what, std::string_view remedy) {
  throw Error(Status::kUnsupported, concat("model: has no ", what, "; ", remedy));
}

// Tells how much of a load is done, and raises `cancel` when the answer is to stop: a part of the
// whole, from `from` to `to`.
std::function<void(float)> part_of_load(const ModelOptions& options, float from, float to,
                                        CancelFlag& cancel) {
  if (!options.progress) return {};
  return [&options, &cancel, from, to](float fraction) {
    if (options.progress(from + (to - from) * fraction)) cancel.raise();
  };
}

// Between two parts.
void check_progress(const ModelOptions& options, float fraction) {
  if (options.progress && options.progress(fraction)) {
    throw Error(Status::kCancelled, "load: stopped by the progress callback");
  }
}

bool holds_codec(const io::FileSet& files) {
  return files.contains("codec.safetensors") || files.contains("codec.pth");
}

}  // namespace

at::ScalarType choose_dtype(const lm::LmConfig& config, lm::Weights weights) {
  if (weights != lm::Weights::kAsDtype) return kQuantisedDtype;
  // The tables that are only looked up stay as stored, so they do not count.
  const double parameters = stack_parameters(config.slow) + stack_parameters(config.fast);
  return parameters * sizeof(float) <= kFloat32Limit ? at::kFloat : at::kBFloat16;
}

std::shared_ptr<const Model> Model::load(const io::FileSet& files, const ModelOptions& options) {
  auto model = std::shared_ptr<Model>(new Model);
  model->device_ = options.device;
  check_progress(options, 0);
  if (options.want_lm) model->read_text_side(files, options);
  check_progress(options, kTextShare);
  if (options.want_codec && !options.text_only && (!options.want_lm || holds_codec(files))) {
    model->load_codec(files, options);
  }
  if (options.want_lm && !options.text_only) model->load_language_model(files, options);
  check_progress(options, 1);
  return model;
}

ModelMemory Model::estimate(const io::FileSet& files, const ModelOptions& options) {
  ModelOptions sizes = options;
  sizes.shapes_only = true;
  sizes.progress = nullptr;
  return load(files, sizes)->memory();
}

void Model::read_text_side(const io::FileSet& files, const ModelOptions& options) {
  lm_config_ = lm::read_lm_config(files);
  tokenizer_ = text::load_tokenizer(files);
  weights_ = options.weights;
  dtype_ = options.dtype.value_or(choose_dtype(*lm_config_, weights_));
}

void Model::load_language_model(const io::FileSet& files, const ModelOptions& options) {
  CancelFlag cancel;
  lm::LoadOptions load;
  load.dtype = dtype_;
  if (!options.dtype) load.saved_dtype = kQuantisedDtype;
  load.device = options.device;
  load.semantic_begin = tokenizer_->semantic_begin();
  load.semantic_end = tokenizer_->semantic_end();
  load.end_token = tokenizer_->end_token();
  load.weights = weights_;
  load.int4_group = options.int4_group;
  if (options.measure_errors) load.errors = &weight_errors_;
  load.shapes_only = options.shapes_only;
  // A code past the codec's table would be clamped there: better never to draw it.
  if (codec_) load.residual_limit = static_cast<int32_t>(codec_->config().residual_entries);
  load.cancel = &cancel;
  load.progress = part_of_load(options, kCodecShare, 1, cancel);
  lm_ = lm::LanguageModel::load(files, load);
  cancel.check("loading the language model");  // the last answer may have been to stop
}

void Model::load_codec(const io::FileSet& files, const ModelOptions& options) {
  codec::CodecOptions load;
  load.dtype = options.codec_dtype.value_or(at::kFloat);
  load.device = options.device;
  load.encoder = options.want_encoder;
  load.shapes_only = options.shapes_only;
  CancelFlag cancel;
  load.cancel = &cancel;
  load.progress = part_of_load(options, kTextShare, kCodecShare, cancel);
  codec_ = codec::Codec::load(files, load);
  cancel.check("loading the codec");
  codec_dtype_ = load.dtype;

  const int64_t rows = codec_->config().n_codebooks();
  if (lm_config_ && lm_config_->num_codebooks > rows) {
    throw Error(Status::kFormat,
                concat(files.describe(), ": the codec has ", rows,
                       " codebooks, but the language model makes ", lm_config_->num_codebooks,
                       "; are they from the same release?"));
  }
  if (lm_config_ && lm_config_->num_codebooks < rows) {
    log(LogLevel::kWarn,
        concat(files.describe(), ": the codec has ", rows,
               " codebooks, the language model uses the first ", lm_config_->num_codebooks));
  }
}

const text::Tokenizer& Model::tokenizer() const {
  if (!tokenizer_) lacks("tokenizer", "it was loaded as a codec only");
  return *tokenizer_;
}

const lm::LmConfig& Model::lm_config() const {
  if (!lm_config_) lacks("language model", "it was loaded as a codec only");
  return *lm_config_;
}

std::shared_ptr<const lm::LanguageModel> Model::language_model() const {
  if (!lm_) lacks("language model weights", "load it without TEXT_ONLY and NO_LM");
  return lm_;
}

std::shared_ptr<const codec::Codec> Model::codec() const {
  if (!codec_) lacks("codec", "load it from a folder with codec.safetensors or codec.pth");
  return codec_;
}

int32_t Model::n_codebooks() const {
  if (lm_config_) return static_cast<int32_t>(lm_config_->num_codebooks);
  return codec_ ? static_cast<int32_t>(codec_->config().n_codebooks()) : 0;
}

std::optional<uint64_t> Model::codec_fingerprint() const {
  if (!codec_) return std::nullopt;
  return codec_->fingerprint();
}

std::string_view Model::family_name() const {
  if (!lm_config_) return "codec";
  return lm_config_->family == lm::Family::kS2 ? "s2-pro" : "s1-mini";
}

ModelMemory Model::memory() const {
  ModelMemory memory;
  if (lm_) {
    memory.weights = lm_->weight_bytes();
    memory.kv_per_position = lm_->kv_bytes_per_position();
  }
  if (codec_) memory.codec = codec_->weight_bytes();
  return memory;
}

std::span<const lm::LayerError> Model::weight_errors() const {
  if (weight_errors_.empty()) {
    throw Error(Status::kInvalidState,
                "model: no error of its weights was measured; ask for it when loading a checkpoint "
                "that is not quantised with int8 or int4 weights");
  }
  return weight_errors_;
}

void Model::save_weights(const std::string& utf8_path,
                         const std::function<bool(float)>& stop) const {
  lm::save_weights(*language_model(), utf8_path, stop);
}

text::PromptBuilder Model::prompt_builder() const {
  const lm::LmConfig& config = lm_config();
  return {tokenizer(), config.family == lm::Family::kS2 ? text::Family::kS2 : text::Family::kS1,
          static_cast<int32_t>(config.num_codebooks), static_cast<int32_t>(config.codebook_size)};
}

}  // namespace remora::engine
