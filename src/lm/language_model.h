// The weights of both transformers: loaded once, immutable, shared by every session and thread.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/cancel.h"
#include "io/byte_source.h"
#include "lm/config.h"
#include "lm/weight_storage.h"

namespace remora::lm {

class SlowModel;
class FastModel;
struct CpuPlan;

struct LoadOptions {
  at::ScalarType dtype = at::kFloat;  // of weights and activations: kFloat, kBFloat16 or kHalf
  at::Device device = at::kCPU;
  // From the tokenizer: first and last semantic token, and the token that ends a turn.
  int32_t semantic_begin = 0;
  int32_t semantic_end = 0;
  int32_t end_token = 0;
  // Codes that may be sampled for codebooks 1 and up: 0 .. residual_limit - 1, which is the size
  // of the codec's tables; 0 allows the whole table. The S1 family never exceeds 1024.
  int32_t residual_limit = 0;
  Weights weights = Weights::kAsDtype;
  int32_t int4_group = 0;  // columns that share a scale at 4 bits: 32 or 64; 0: as saved, else 64
  // In place of `dtype`, where the checkpoint turns out to be quantised; empty: dtype all the same.
  std::optional<at::ScalarType> saved_dtype{};
  std::optional<SavedWeights> saved{};  // set by load() for a checkpoint that is quantised already
  // Gets what the conversion loses, kind by kind in the model's order, at the cost of a second pass
  // over each matrix. Stays empty where nothing is converted.
  std::vector<LayerError>* errors = nullptr;
  bool shapes_only = false;               // tensors without numbers: see LanguageModel::load
  const CancelFlag* cancel = nullptr;     // checked between tensors
  std::function<void(float)> progress{};  // fraction done, from the loading thread

  int32_t group() const { return int4_group != 0 ? int4_group : kInt4Group; }
};

class LanguageModel {
 public:
  // Reads config.json and the weights. Throws Error{kFormat} listing missing or misshaped tensors,
  // Error{kInvalidArgument} when the token ids do not fit the config, Error{kCancelled}.
  // Peak memory stays within 15 % of the weights in `dtype`; tensors that already have it are used
  // where the file is mapped. A quantised checkpoint is used as it is, mapped too; asking it for
  // other weights is Error{kUnsupported}. With shapes_only no weights are read and the model can
  // only be asked for its sizes.
  static std::shared_ptr<const LanguageModel> load(const io::FileSet& files,
                                                   const LoadOptions& options);

  // A model of the same shape with made-up weights (the same for the same seed): for measuring
  // speed and memory. What it says is babble.
  static std::shared_ptr<const LanguageModel> random(const LmConfig& config,
                                                     const LoadOptions& options, uint64_t seed);

  // `weights_fingerprint`: see WeightSource. Callers use load() or random().
  LanguageModel(const LmConfig& config, const LoadOptions& options, SlowModel slow, FastModel fast,
                uint64_t weights_fingerprint);
  ~LanguageModel();

  const LmConfig& config() const { return config_; }
  at::ScalarType dtype() const { return dtype_; }
  at::Device device() const { return device_; }
  Weights weights() const { return weights_; }
  int32_t int4_group() const { return int4_group_; }  // 0 without 4-bit matrices
  bool weights_were_saved() const { return weights_were_saved_; }
  int32_t semantic_begin() const { return semantic_begin_; }
  int32_t semantic_end() const { return semantic_end_; }
  int32_t end_token() const { return end_token_; }
  const SlowModel& slow() const { return *slow_; }
  const FastModel& fast() const { return *fast_; }

  // The weights as the CPU's decode step reads them; null where it cannot run (another device,
  // float16).
  const CpuPlan* slow_plan() const { return slow_plan_.get(); }
  const CpuPlan* fast_plan() const { return fast_plan_.get(); }

  uint64_t weight_bytes() const;
  // Cache memory of one position in one session.
  uint64_t kv_bytes_per_position() const;
  // Tells checkpoints and precisions apart: a saved session fits a model with the same value.
  uint64_t fingerprint() const { return fingerprint_; }

 private:
  void make_plans();

  LmConfig config_;
  at::ScalarType dtype_;
  at::Device device_;
  Weights weights_;
  int32_t int4_group_;
  bool weights_were_saved_;
  int32_t semantic_begin_, semantic_end_, end_token_;
  std::unique_ptr<const SlowModel> slow_;
  std::unique_ptr<const FastModel> fast_;
  std::unique_ptr<const CpuPlan> slow_plan_, fast_plan_;  // both or neither
  uint64_t fingerprint_ = 0;
};

}  // namespace remora::lm
