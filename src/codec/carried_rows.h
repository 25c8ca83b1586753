// The input buffer of a causal convolution: carried rows first, new rows behind them.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

#include "codec/pass.h"

namespace remora::codec {

// In use:
//   at::Tensor rows = carried.open(pass, n);  // [count + n, channels], the carried rows filled in
//   ... write the new rows into carried.fresh(rows), convolve `rows` ...
//   carried.keep(pass, rows);                 // the last `count` rows are the next carried rows
class CarriedRows {
 public:
  // `count` may be 0: nothing is carried then.
  CarriedRows(StateLayout& layout, std::string name, int64_t count, int64_t channels,
              at::ScalarType dtype);

  at::Tensor open(const Pass& pass, int64_t n) const;
  at::Tensor fresh(const at::Tensor& rows) const;  // [n, channels], a view
  void keep(Pass& pass, const at::Tensor& rows) const;

  // open() with x [n, channels] behind the carried rows; x itself when nothing is carried and its
  // type fits.
  at::Tensor joined(const Pass& pass, const at::Tensor& x) const;

  int64_t count() const { return count_; }

 private:
  int64_t count_;
  int64_t channels_;
  at::ScalarType dtype_;
  size_t slot_ = 0;  // meaningful when count_ > 0
};

}  // namespace remora::codec
