#include "codec/fast_filter.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/add.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>

#include <algorithm>
#include <utility>

namespace remora::codec {
namespace {

constexpr int kLevels = 2;
constexpr int64_t kPhases = int64_t{1} << kLevels;
// Fewer outputs do not fill the products.
constexpr int64_t kFewOutputs = 256;
// Narrower layers spend more on the sums than they save; wider ones have few rows, and the summed
// taps would take 2.4 times their memory.
constexpr int64_t kLeastChannels = 64;
constexpr int64_t kMostChannels = 512;

struct Split {
  at::Tensor odd;         // O
  at::Tensor even_less;   // E - O
  at::Tensor later_less;  // E+ - O
};

// x: rows in blocks of `block` numbers, at least max(2 * evens, 2 * odds + 1) blocks. `evens`
// blocks of the first two results, `odds` of the last; odds is evens or one less.
Split split(const at::Tensor& x, int64_t rows_per_block, int64_t evens, int64_t odds) {
  const int64_t channels = x.size(1);
  const int64_t block = rows_per_block * channels;
  Split out{at::empty({evens * rows_per_block, channels}, x.options()),
            at::empty({evens * rows_per_block, channels}, x.options()),
            at::empty({odds * rows_per_block, channels}, x.options())};
  const float* const from = x.const_data_ptr<float>();
  float* const odd = out.odd.data_ptr<float>();
  float* const even_less = out.even_less.data_ptr<float>();
  float* const later_less = out.later_less.data_ptr<float>();
  for (int64_t b = 0; b < evens; ++b) {
    const float* const e = from + 2 * b * block;
    const float* const o = e + block;
    std::copy(o, o + block, odd + b * block);
    for (int64_t i = 0; i < block; ++i) even_less[b * block + i] = e[i] - o[i];
    if (b >= odds) continue;
    const float* const later = o + block;
    for (int64_t i = 0; i < block; ++i) later_less[b * block + i] = later[i] - o[i];
  }
  return out;
}

// Blocks 2b of the result are both[b] + even[b], blocks 2b + 1 are both[b] + odd[b].
void merge(const at::Tensor& both, const at::Tensor& even, const at::Tensor& odd,
           int64_t rows_per_block, const at::Tensor& out) {
  const int64_t block = rows_per_block * both.size(1);
  const float* const p = both.const_data_ptr<float>();
  const float* const q = even.const_data_ptr<float>();
  const float* const r = odd.const_data_ptr<float>();
  float* const to = out.data_ptr<float>();
  for (int64_t at = 0; at < both.numel(); at += block) {
    float* const first = to + 2 * at;
    float* const second = first + block;
    for (int64_t i = 0; i < block; ++i) first[i] = p[at + i] + q[at + i];
    for (int64_t i = 0; i < block; ++i) second[i] = p[at + i] + r[at + i];
  }
}

}  // namespace

// A filter without bias: a leaf multiplies, an inner node has three of half the length.
class FastFilter::Node {
 public:
  using Taps = std::vector<at::Tensor>;  // [in, out] each, double

  Node(const Taps& taps, int levels) : length_(static_cast<int64_t>(taps.size())) {
    if (levels == 0) {
      for (const at::Tensor& tap : taps) leaf_.push_back(tap.to(at::kFloat).contiguous());
      return;
    }
    Taps even, odd, both;
    for (size_t i = 0; i < taps.size(); ++i) (i % 2 == 0 ? even : odd).push_back(taps[i]);
    for (size_t i = 0; i < even.size(); ++i) {
      both.push_back(i < odd.size() ? even[i] + odd[i] : even[i]);
    }
    both_ = std::make_unique<const Node>(both, levels - 1);
    even_ = std::make_unique<const Node>(even, levels - 1);
    odd_ = std::make_unique<const Node>(odd, levels - 1);
  }

  uint64_t bytes() const {
    if (both_) return both_->bytes() + even_->bytes() + odd_->bytes();
    uint64_t total = 0;
    for (const at::Tensor& tap : leaf_) total += tap.nbytes();
    return total;
  }

  // x: [(blocks + length - 1) * dilation, in] -> [blocks * dilation, out]
  at::Tensor apply(const at::Tensor& x, int64_t blocks, int64_t dilation) const {
    if (!both_) return multiply(x, blocks * dilation, dilation);
    const int64_t half = blocks / 2;
    const Split parts = split(x, dilation, half + even_->length_ - 1, half + odd_->length_ - 1);
    const at::Tensor both = both_->apply(parts.odd, half, dilation);
    const at::Tensor even = even_->apply(parts.even_less, half, dilation);
    const at::Tensor odd = odd_->apply(parts.later_less, half, dilation);
    at::Tensor out = at::empty({blocks * dilation, both.size(1)}, both.options());
    merge(both, even, odd, dilation, out);
    return out;
  }

 private:
  at::Tensor multiply(const at::Tensor& x, int64_t count, int64_t dilation) const {
    at::Tensor y = at::mm(x.narrow(0, 0, count), leaf_[0]);
    for (size_t tap = 1; tap < leaf_.size(); ++tap) {
      y.addmm_(x.narrow(0, static_cast<int64_t>(tap) * dilation, count), leaf_[tap]);
    }
    return y;
  }

  int64_t length_;
  std::vector<at::Tensor> leaf_;  // [in, out] each, float32
  std::unique_ptr<const Node> both_, even_, odd_;
};

FastFilter::FastFilter(const at::Tensor& weight, const at::Tensor& bias, const ConvShape& shape)
    : shape_(shape), bias_(bias), direct_(make_product_kernel(weight, bias, shape)) {
  Node::Taps taps;
  const at::Tensor wide = weight.to(at::kDouble);
  for (int64_t i = 0; i < shape.kernel; ++i) taps.push_back(wide.select(2, i).t());
  root_ = std::make_unique<const Node>(taps, kLevels);
}

FastFilter::~FastFilter() = default;

bool FastFilter::fits(at::Device device, at::ScalarType type, const ConvShape& shape) {
  return device.is_cpu() && type == at::kFloat && shape.stride == 1 && shape.kernel >= kPhases &&
         shape.in >= kLeastChannels && shape.in <= kMostChannels && shape.out >= kLeastChannels &&
         shape.out <= kMostChannels;
}

int64_t FastFilter::granule() const { return kPhases * shape_.dilation; }

uint64_t FastFilter::bytes() const { return direct_->bytes() + root_->bytes(); }

at::Tensor FastFilter::apply(const at::Tensor& rows) const {
  const int64_t carried = shape_.carried();
  const int64_t n = rows.size(0) - carried;
  const int64_t whole = n / granule() * granule();
  if (n < kFewOutputs || whole == 0) return direct_->apply(rows);
  at::Tensor y = at::empty({n, shape_.out}, rows.options());
  // Contiguous: the first rows of a contiguous tensor.
  const at::Tensor filtered =
      root_->apply(rows.narrow(0, 0, carried + whole), whole / shape_.dilation, shape_.dilation);
  at::Tensor first = y.narrow(0, 0, whole);
  at::add_out(first, filtered, bias_);
  if (whole < n) {
    y.narrow(0, whole, n - whole).copy_(direct_->apply(rows.narrow(0, whole, carried + n - whole)));
  }
  return y;
}

}  // namespace remora::codec
