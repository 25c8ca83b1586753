#include "lm/language_model.h"

#include <c10/core/InferenceMode.h>

#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "io/checkpoint.h"
#include "lm/builder.h"
#include "lm/cpu_plan.h"
#include "lm/fast.h"
#include "lm/hash.h"
#include "lm/slow.h"
#include "lm/weights.h"

namespace remora::lm {
namespace {

// What a quantised checkpoint asks for, held against what the caller asks for.
LoadOptions options_for(const io::StateDict& dict, const LoadOptions& asked) {
  LoadOptions options = asked;
  options.saved = saved_weights(dict);
  if (!options.saved) return options;
  const SavedWeights& saved = *options.saved;
  const bool other = asked.weights != Weights::kAsDtype && asked.weights != saved.weights;
  const bool other_group = saved.weights == Weights::kInt4 && asked.int4_group != 0 &&
                           asked.int4_group != saved.int4_group;
  if (other || other_group) {
    const auto called = [](Weights weights, int32_t group) {
      return weights == Weights::kInt4 && group != 0
                 ? concat(weights_name(weights), " in groups of ", group)
                 : std::string(weights_name(weights));
    };
    throw Error(Status::kUnsupported,
                concat(dict.files(), ": holds ", called(saved.weights, saved.int4_group),
                       " weights, and ", called(asked.weights, asked.int4_group),
                       " was asked for; ask for none, or convert the original checkpoint"));
  }
  if (saved.semantic_begin != asked.semantic_begin || saved.semantic_end != asked.semantic_end ||
      saved.end_token != asked.end_token) {
    throw Error(Status::kFormat,
                concat(dict.files(), ": made for semantic tokens ", saved.semantic_begin, " to ",
                       saved.semantic_end, " and end token ", saved.end_token,
                       ", the tokenizer has ", asked.semantic_begin, " to ", asked.semantic_end,
                       " and ", asked.end_token, "; is the tokenizer from the same checkpoint?"));
  }
  options.dtype = asked.saved_dtype.value_or(asked.dtype);
  options.weights = saved.weights;
  options.int4_group = saved.int4_group;
  return options;
}

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
  const LoadOptions effective = options_for(dict, options);
  check_options(config, effective);
  if (!options.shapes_only) check_shapes(config, effective, dict);
  return build(config, effective, *checkpoint_weights(dict, effective));
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
      weights_(options.weights),
      int4_group_(options.weights == Weights::kInt4 ? options.group() : 0),
      weights_were_saved_(options.saved.has_value()),
      semantic_begin_(options.semantic_begin),
      semantic_end_(options.semantic_end),
      end_token_(options.end_token),
      slow_(std::make_unique<const SlowModel>(std::move(slow))),
      fast_(std::make_unique<const FastModel>(std::move(fast))) {
  if (device_.is_cpu() && !options.shapes_only) make_plans();
  Hash hash;
  hash.add(weights_fingerprint);
  hash.add(weights_);
  hash.add(int4_group_);
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
