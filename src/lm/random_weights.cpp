// Made-up weights of any size, cheap enough for billions of them.
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "lm/hash.h"
#include "lm/rng.h"
#include "lm/weights.h"

namespace remora::lm {
namespace {

// Numbers in the pool that every matrix is tiled from. A prime, so that tiles do not line up with
// rows.
constexpr int64_t kPool = 1048573;

class RandomWeights final : public WeightSource {
 public:
  RandomWeights(const LoadOptions& options, uint64_t seed) : options_(options) {
    pool_ = at::empty({kPool}, at::TensorOptions().dtype(at::kFloat));
    std::vector<int32_t> all(kPool);
    for (int32_t i = 0; i < kPool; ++i) all[static_cast<size_t>(i)] = i;
    Mt19937(seed).draw(kPool, all, {pool_.mutable_data_ptr<float>(), all.size()});
    pool_.sub_(0.5);
    hash_.add(seed);
  }

  at::Tensor weight(const std::string& name, const std::vector<int64_t>& shape) override {
    return make(name, shape).to(options_.device);
  }
  at::Tensor table(const std::string& name, const std::vector<int64_t>& shape) override {
    return make(name, shape);
  }
  at::Tensor rows(const std::string& name, const std::vector<int64_t>& shape,
                  std::span<const int32_t> wanted) override {
    return make(name, {static_cast<int64_t>(wanted.size()), shape[1]}).to(options_.device);
  }
  nn::PackedMatrix packed(const std::string& /*name*/, const nn::WeightFormat& format,
                          int64_t /*stored_rows*/, int64_t rows, int64_t cols) override {
    return nn::packed_form(format, rows, cols);  // not asked for: nothing was saved
  }
  bool has(const std::string& /*name*/) const override { return false; }
  void finish() override {
    if (options_.progress) options_.progress(1);
  }
  uint64_t fingerprint() const override { return hash_.value(); }

 private:
  at::Tensor make(const std::string& name, const std::vector<int64_t>& shape) {
    if (options_.cancel != nullptr) options_.cancel->check("making random weights");
    hash_.add(name);
    const auto options = at::TensorOptions().dtype(options_.dtype);
    if (shape.size() == 1) return at::ones(shape, options);
    // A variance of 1 / columns keeps activations at the size they come in.
    const double scale = std::sqrt(12.0 / static_cast<double>(shape.back()));
    const at::Tensor tile = (pool_ * scale).to(options_.dtype);
    at::Tensor out = at::empty(shape, options);
    const at::Tensor flat = out.view({-1});
    for (int64_t at = 0; at < flat.numel(); at += kPool - offset_) {
      if (at > 0) offset_ = 0;
      const int64_t count = std::min(kPool - offset_, flat.numel() - at);
      flat.narrow(0, at, count).copy_(tile.narrow(0, offset_, count));
    }
    offset_ = (offset_ + static_cast<int64_t>(name.size()) * 7919) % kPool;
    return out;
  }

  const LoadOptions& options_;
  at::Tensor pool_;     // [kPool] uniform in -0.5 .. 0.5
  int64_t offset_ = 0;  // where the next matrix starts in the pool
  Hash hash_;
};

}  // namespace

std::unique_ptr<WeightSource> random_weights(const LoadOptions& options, uint64_t seed) {
  return std::make_unique<RandomWeights>(options, seed);
}

}  // namespace remora::lm
