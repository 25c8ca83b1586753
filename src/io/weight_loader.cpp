#include "io/weight_loader.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include "base/concat.h"
#include "base/error.h"
#include "base/log.h"

namespace remora::io {
namespace {

constexpr size_t kListed = 10;

at::Tensor without_numbers(const std::vector<int64_t>& shape, at::ScalarType dtype) {
  return at::empty(shape, at::TensorOptions().dtype(dtype).device(at::kMeta));
}

}  // namespace

WeightLoader::WeightLoader(const StateDict& dict, Reading reading)
    : dict_(dict), reading_(reading) {}

const StoredTensor* WeightLoader::checked(std::string_view name,
                                          const std::vector<int64_t>& shape) {
  used_.insert(std::string(name));
  const StoredTensor* stored = dict_.find(name);
  if (stored == nullptr) {
    problems_.push_back(
        concat(dict_.files(), ": tensor ", name, " ", shape_text(shape), " is missing"));
    return nullptr;
  }
  if (stored->shape != shape) {
    problems_.push_back(concat(stored->source->name(), ": tensor ", name, " is ",
                               shape_text(stored->shape), ", expected ", shape_text(shape)));
    return nullptr;
  }
  return stored;
}

at::Tensor WeightLoader::take(std::string_view name, const std::vector<int64_t>& shape) {
  const StoredTensor* stored = checked(name, shape);
  if (reading_ == Reading::kShapes) {
    return without_numbers(shape, stored != nullptr ? stored->dtype : at::kFloat);
  }
  return stored != nullptr ? stored->load() : at::zeros({1}).expand(shape);
}

at::Tensor WeightLoader::take(std::string_view name, const std::vector<int64_t>& shape,
                              at::ScalarType dtype) {
  const StoredTensor* stored = checked(name, shape);
  if (reading_ == Reading::kShapes) return without_numbers(shape, dtype);
  if (stored == nullptr) return at::zeros({1}, at::TensorOptions().dtype(dtype)).expand(shape);
  return stored->load().to(dtype).contiguous();
}

std::vector<int64_t> WeightLoader::shape_of(std::string_view name) const {
  const StoredTensor* stored = dict_.find(name);
  return stored != nullptr ? stored->shape : std::vector<int64_t>{};
}

void WeightLoader::finish() const {
  if (!problems_.empty()) {
    std::string text;
    for (size_t i = 0; i < problems_.size() && i < kListed; ++i) {
      text += (i > 0 ? "; " : "") + problems_[i];
    }
    if (problems_.size() > kListed) {
      text += concat("; and ", problems_.size() - kListed, " more");
    }
    if (problems_.size() > 1) text += concat("; ", problems_.size(), " problems");
    text += "; is config.json from the same checkpoint?";
    throw Error(Status::kFormat, text);
  }
  if (reading_ == Reading::kShapes || !log_enabled(LogLevel::kDebug)) return;
  for (const auto& [name, tensor] : dict_.tensors()) {
    if (!used_.contains(name)) {
      log(LogLevel::kDebug,
          concat(tensor.source->name(), ": tensor ", name, " is not used by this model"));
    }
  }
}

}  // namespace remora::io
