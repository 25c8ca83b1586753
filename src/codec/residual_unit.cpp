#include "codec/residual_unit.h"

#include "codec/slices.h"

namespace remora::codec {
namespace {

constexpr int64_t kKernel = 7;
// Shorter slices do not fill the products; wide layers share their weights out better.
constexpr int64_t kLeastSlice = 256;

}  // namespace

ResidualUnit::ResidualUnit(Weights& weights, StateLayout& layout, const std::string& module,
                           int64_t channels, int64_t dilation, double snake_eps)
    : module_(module),
      before_wide_(weights, module + ".block.0", channels, snake_eps),
      wide_(weights, layout, module + ".block.1",
            {.in = channels, .out = channels, .kernel = kKernel, .dilation = dilation}),
      before_point_(weights, module + ".block.2", channels, snake_eps),
      point_(weights, layout, module + ".block.3", {.in = channels, .out = channels}) {}

void ResidualUnit::forward(Pass& pass, at::Tensor x) const {
  const int64_t n = x.size(0);
  at::Tensor rows = wide_.open(pass, n);  // [carried + n, channels]
  before_wide_.forward(x, wide_.fresh(rows));
  pass.note(module_, ".block.0", wide_.fresh(rows));
  wide_.keep(pass, rows);
  const bool observed = pass.observer != nullptr;
  in_slices(n, wide_.granule(), kLeastSlice, observed, [&](int64_t begin, int64_t end) {
    const int64_t count = end - begin;
    at::Tensor y =  // [count, channels]
        wide_.apply(pass, rows.narrow(0, begin, wide_.carried() + count));
    before_point_.forward(y, y);
    pass.note(module_, ".block.2", y);
    point_.add_to(pass, y, x.narrow(0, begin, count));
  });
  pass.note(module_, "", x);
}

}  // namespace remora::codec
