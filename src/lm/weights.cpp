#include "lm/weights.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/concat.h"
#include "base/error.h"
#include "io/weight_loader.h"
#include "lm/hash.h"

namespace remora::lm {
namespace {

constexpr std::string_view kText = "text_model.model.";
constexpr std::string_view kAudio = "audio_decoder.";
constexpr std::string_view kSharedTable = "codebook_embeddings.";
constexpr std::string_view kTrainer = "model.";

bool has_s2_names(const io::StateDict& dict) {
  return std::any_of(dict.tensors().begin(), dict.tensors().end(), [](const auto& entry) {
    const std::string_view name = entry.first;
    return name.starts_with("text_model.") || name.starts_with(kAudio);
  });
}

std::string s2_name(std::string_view name) {
  if (name.starts_with(kText)) return std::string(name.substr(kText.size()));
  if (!name.starts_with(kAudio)) return std::string(name);
  name.remove_prefix(kAudio.size());
  return name.starts_with(kSharedTable) ? std::string(name) : concat("fast_", name);
}

std::string without_trainer_prefix(std::string name) {
  for (size_t at = name.find(kTrainer); at != std::string::npos; at = name.find(kTrainer, at)) {
    name.erase(at, kTrainer.size());
  }
  return name;
}

// int64 row numbers as an index tensor.
at::Tensor index_of(std::span<const int32_t> rows) {
  auto* data = const_cast<int32_t*>(rows.data());
  return at::from_blob(data, {static_cast<int64_t>(rows.size())},
                       at::TensorOptions().dtype(at::kInt))
      .to(at::kLong);
}

class CheckpointWeights final : public WeightSource {
 public:
  CheckpointWeights(const io::StateDict& dict, const LoadOptions& options)
      : dict_(dict),
        loader_(dict, options.shapes_only ? io::Reading::kShapes : io::Reading::kNumbers),
        options_(options),
        device_(options.shapes_only ? at::kMeta : options.device) {
    for (const auto& [name, tensor] : dict.tensors()) total_ += tensor.byte_size();
  }

  at::Tensor weight(const std::string& name, const std::vector<int64_t>& shape) override {
    begin(name);
    return done(name, loader_.take(name, shape, options_.dtype).to(device_));
  }

  at::Tensor table(const std::string& name, const std::vector<int64_t>& shape) override {
    begin(name);
    at::Tensor stored = loader_.take(name, shape);
    const at::ScalarType type = stored.scalar_type();
    if (type != at::kFloat && type != at::kBFloat16 && type != at::kHalf) {
      loader_.problem(
          concat(name, " holds ", c10::toString(type), ", expected float32, bfloat16 or float16"));
    }
    return done(name, stored.contiguous());
  }

  at::Tensor rows(const std::string& name, const std::vector<int64_t>& shape,
                  std::span<const int32_t> wanted) override {
    begin(name);
    const at::Tensor whole = loader_.take(name, shape);
    // Without numbers any rows are as good.
    const at::Tensor some = whole.is_meta()
                                ? whole.narrow(0, 0, static_cast<int64_t>(wanted.size()))
                                : whole.index_select(0, index_of(wanted));
    return done(name, some.to(device_, options_.dtype));
  }

  nn::PackedMatrix packed(const std::string& name, const nn::WeightFormat& format,
                          int64_t stored_rows, int64_t rows, int64_t cols) override {
    const nn::PackedMatrix stored = nn::packed_form(format, stored_rows, cols);
    const int64_t blocks = nn::packed_form(format, rows, cols).data.size(0);
    return {part(name, stored.data, blocks), part(scales_name(name), stored.scales, blocks)};
  }

  bool has(const std::string& name) const override { return loader_.has(name); }
  void finish() override {
    check_cancel();
    loader_.finish();
    if (options_.progress) options_.progress(1);
  }
  uint64_t fingerprint() const override { return hash_.value(); }

 private:
  // The first blocks of a tensor of `form`'s shape and type.
  at::Tensor part(const std::string& name, const at::Tensor& form, int64_t blocks) {
    begin(name);
    at::Tensor stored = loader_.take(name, form.sizes().vec());
    const io::StoredTensor* found = dict_.find(name);
    if (found != nullptr && found->dtype != form.scalar_type()) {
      loader_.problem(concat(name, " holds ", c10::toString(found->dtype), ", expected ",
                             c10::toString(form.scalar_type())));
    }
    // Something of the right shape until finish() tells what was wrong.
    if (stored.scalar_type() != form.scalar_type()) stored = form;
    return done(name, stored.narrow(0, 0, blocks));
  }
  void check_cancel() const {
    if (options_.cancel != nullptr) options_.cancel->check("loading the language model");
  }
  void begin(const std::string& name) {
    check_cancel();
    const io::StoredTensor* stored = dict_.find(name);
    if (stored == nullptr) return;
    hash_.add(name);
    hash_.add(stored->dtype);
    for (const int64_t extent : stored->shape) hash_.add(extent);
    if (options_.shapes_only) return;
    // The first bytes tell weights apart; reading all of them would cost a pass over the file.
    std::array<std::byte, 64> head{};
    const auto bytes = std::min<uint64_t>(head.size(), stored->byte_size());
    stored->source->read_at(stored->offset, std::span(head).first(bytes));
    hash_.add_bytes(head);
  }
  at::Tensor done(const std::string& name, at::Tensor tensor) {
    if (const io::StoredTensor* stored = dict_.find(name)) loaded_ += stored->byte_size();
    if (options_.progress && total_ > 0) {
      options_.progress(std::min(1.0F, static_cast<float>(loaded_) / static_cast<float>(total_)));
    }
    return tensor;
  }

  const io::StateDict& dict_;
  io::WeightLoader loader_;
  const LoadOptions& options_;
  at::Device device_;
  Hash hash_;
  uint64_t total_ = 0;
  uint64_t loaded_ = 0;
};

}  // namespace

io::StateDict own_names(const io::StateDict& dict) {
  if (saved_weights(dict)) return dict;
  if (has_s2_names(dict)) return dict.renamed(s2_name);
  const bool prefixed = dict.first_name().starts_with(kTrainer);
  return dict.renamed([prefixed](const std::string& name) {
    std::string own = prefixed ? without_trainer_prefix(name) : name;
    if (own.find("audio_") != std::string::npos) own.clear();
    return own;
  });
}

std::unique_ptr<WeightSource> checkpoint_weights(const io::StateDict& dict,
                                                 const LoadOptions& options) {
  return std::make_unique<CheckpointWeights>(dict, options);
}

}  // namespace remora::lm
