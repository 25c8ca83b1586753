#include "lm/language_model.h"

#include <c10/core/InferenceMode.h>

#include <utility>

#include "io/checkpoint.h"
#include "lm/builder.h"
#include "lm/cpu_plan.h"
#include "lm/fast.h"
#include "lm/hash.h"
#include "lm/slow.h"
#include "lm/weights.h"

namespace remora::lm {
namespace {

std::shared_ptr<const LanguageModel> build(const LmConfig& config, const LoadOptions& options,
                                           WeightSource& source) {
  SlowModel slow = build_slow(config, options, source);
  FastModel fast = build_fast(config, options, source);
  source.finish();
  return std::make_shared<const LanguageModel>(config, options, std::move(slow), std::move(fast),
                                               source.fingerprint());
}

// Throws as load() for a checkpoint that is not what its configuration says. Nothing is allocated
// by sizes that no tensor has confirmed.
void check_shapes(const LmConfig& config, const LoadOptions& options, const io::StateDict& dict) {
  LoadOptions shapes = options;
  shapes.shapes_only = true;
  shapes.progress = nullptr;
  build(config, shapes, *checkpoint_weights(dict, shapes));
}

}  // namespace

std::shared_ptr<const LanguageModel> LanguageModel::load(const io::FileSet& files,
                                                         const LoadOptions& options) {
  const c10::InferenceMode inference;
  const LmConfig config = read_lm_config(files);
  check_options(config, options);
  const io::StateDict dict = own_names(io::read_checkpoint(files));
  if (!options.shapes_only) check_shapes(config, options, dict);
  return build(config, options, *checkpoint_weights(dict, options));
}

std::shared_ptr<const LanguageModel> LanguageModel::random(const LmConfig& config,
                                                           const LoadOptions& options,
                                                           uint64_t seed) {
  const c10::InferenceMode inference;
  check_options(config, options);
  return build(config, options, *random_weights(options, seed));
}

LanguageModel::LanguageModel(const LmConfig& config, const LoadOptions& options, SlowModel slow,
                             FastModel fast, uint64_t weights_fingerprint)
    : config_(config),
      dtype_(options.dtype),
      device_(options.device),
      semantic_begin_(options.semantic_begin),
      semantic_end_(options.semantic_end),
      end_token_(options.end_token),
      slow_(std::make_unique<const SlowModel>(std::move(slow))),
      fast_(std::make_unique<const FastModel>(std::move(fast))) {
  if (device_.is_cpu() && !options.shapes_only) make_plans();
  Hash hash;
  hash.add(weights_fingerprint);
  hash.add(options.weights);
  hash.add(dtype_);
  hash.add(config_.max_seq_len);
  for (const int32_t token : slow_->head_tokens()) hash.add(token);
  fingerprint_ = hash.value();
}

LanguageModel::~LanguageModel() = default;

void LanguageModel::make_plans() {
  auto slow_plan = make_cpu_plan(*slow_, config_.norm_fast_input);
  auto fast_plan = make_cpu_plan(*fast_);
  if (!slow_plan || !fast_plan) return;
  slow_plan_ = std::make_unique<const CpuPlan>(*std::move(slow_plan));
  fast_plan_ = std::make_unique<const CpuPlan>(*std::move(fast_plan));
}

uint64_t LanguageModel::weight_bytes() const { return slow_->bytes() + fast_->bytes(); }

uint64_t LanguageModel::kv_bytes_per_position() const {
  return slow_->transformer().kv_shape(dtype_, device_).bytes_per_position();
}

}  // namespace remora::lm
