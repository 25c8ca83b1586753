// A loaded checkpoint: tokenizer, language model, codec. Immutable and shared by sessions, voices
// and threads.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/live_count.h"
#include "codec/codec.h"
#include "io/byte_source.h"
#include "lm/language_model.h"
#include "text/prompt.h"
#include "text/tokenizer.h"

namespace remora::engine {

struct ModelOptions {
  bool want_lm = true;                        // off: codec only
  bool want_codec = true;                     // off: codes only
  bool want_encoder = true;                   // off: no voices from sound
  bool text_only = false;                     // configuration and tokenizer, no weights
  std::optional<at::ScalarType> dtype;        // empty: chosen by size, see choose_dtype
  std::optional<at::ScalarType> codec_dtype;  // empty: float32
  lm::Weights weights = lm::Weights::kAsDtype;
  int32_t int4_group = 0;       // 32 or 64; 0: as the checkpoint holds them, else 64
  bool measure_errors = false;  // for weight_errors()
  at::Device device = at::kCPU;
  bool shapes_only = false;             // weights without numbers, for memory() alone
  std::function<bool(float)> progress;  // fraction done; true stops the load
};

// Weights of up to 4 GiB in float32 are computed in float32, larger ones and those of 8 or 4 bits
// in bfloat16: a rule by the model, so that a checkpoint gives the same result on every machine.
at::ScalarType choose_dtype(const lm::LmConfig& config, lm::Weights weights);

// Bytes that a model takes; mapped files count too.
struct ModelMemory {
  uint64_t weights = 0;          // of the language model
  uint64_t codec = 0;            // of the codec
  uint64_t kv_per_position = 0;  // K and V of one column of a session
};

class Model : public LiveCount<Model> {
 public:
  // Throws Error: kIo for a missing file, kFormat for a damaged or mismatched one, kUnsupported,
  // kCancelled when `progress` asked to stop.
  // Without a codec among the files the model has no sound; an error when a codec was all that was
  // wanted.
  static std::shared_ptr<const Model> load(const io::FileSet& files, const ModelOptions& options);

  // What memory() of a model loaded so would be; reads configuration, tokenizer and the headers of
  // the weight files. Throws as load().
  static ModelMemory estimate(const io::FileSet& files, const ModelOptions& options);

  bool has_lm() const { return lm_config_.has_value(); }
  bool has_codec() const { return codec_ != nullptr; }

  // These throw Error{kUnsupported} saying what the model lacks.
  const text::Tokenizer& tokenizer() const;
  const lm::LmConfig& lm_config() const;
  std::shared_ptr<const lm::LanguageModel> language_model() const;
  std::shared_ptr<const codec::Codec> codec() const;
  text::PromptBuilder prompt_builder() const;

  // Codes in a frame: the language model's, else the codec's.
  int32_t n_codebooks() const;
  // Codec::fingerprint(); empty without a codec.
  std::optional<uint64_t> codec_fingerprint() const;
  // "s2-pro", "s1-mini" or "codec".
  std::string_view family_name() const;
  at::Device device() const { return device_; }
  at::ScalarType dtype() const { return lm_ ? lm_->dtype() : dtype_; }
  at::ScalarType codec_dtype() const { return codec_dtype_; }
  // As they are: those of a quantised checkpoint even where nothing was asked for.
  lm::Weights weights() const { return lm_ ? lm_->weights() : weights_; }
  int32_t int4_group() const { return lm_ ? lm_->int4_group() : 0; }
  // Whether the checkpoint held them so.
  bool weights_were_saved() const { return lm_ && lm_->weights_were_saved(); }
  ModelMemory memory() const;

  // What quantising the matrices lost, kind by kind. Throws Error{kInvalidState} where nothing was
  // measured: not asked for, not quantised, or quantised in the checkpoint already.
  std::span<const lm::LayerError> weight_errors() const;
  // The language model's weights as the file model.safetensors of a quantised checkpoint; see
  // lm::save_weights. `stop` is told the fraction done and answers whether to stop.
  void save_weights(const std::string& utf8_path, const std::function<bool(float)>& stop) const;

 private:
  Model() = default;
  void read_text_side(const io::FileSet& files, const ModelOptions& options);
  void load_language_model(const io::FileSet& files, const ModelOptions& options);
  void load_codec(const io::FileSet& files, const ModelOptions& options);

  std::unique_ptr<const text::Tokenizer> tokenizer_;
  std::optional<lm::LmConfig> lm_config_;
  std::shared_ptr<const lm::LanguageModel> lm_;
  std::shared_ptr<const codec::Codec> codec_;
  at::Device device_ = at::kCPU;
  at::ScalarType dtype_ = at::kFloat;
  at::ScalarType codec_dtype_ = at::kFloat;
  lm::Weights weights_ = lm::Weights::kAsDtype;
  std::vector<lm::LayerError> weight_errors_;
};

}  // namespace remora::engine
