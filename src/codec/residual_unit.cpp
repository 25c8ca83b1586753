#include "codec/residual_unit.h"

namespace remora::codec {
namespace {

constexpr int64_t kKernel = 7;

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
  at::Tensor rows = wide_.open(pass, x.size(0));  // [carried + n, channels]
  before_wide_.forward(x, wide_.fresh(rows));
  pass.note(module_, ".block.0", wide_.fresh(rows));
  at::Tensor y = wide_.close(pass, rows);  // [n, channels]
  before_point_.forward(y, y);
  pass.note(module_, ".block.2", y);
  x.add_(point_.forward(pass, y));
  pass.note(module_, "", x);
}

}  // namespace remora::codec
