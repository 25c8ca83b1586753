#include "codec/carried_rows.h"

#include <ATen/ops/empty.h>

#include <utility>

namespace remora::codec {

CarriedRows::CarriedRows(StateLayout& layout, std::string name, int64_t count, int64_t channels,
                         at::ScalarType dtype)
    : count_(count), channels_(channels), dtype_(dtype) {
  if (count_ > 0) slot_ = layout.add_rows(std::move(name), count_, channels_, dtype_);
}

at::Tensor CarriedRows::open(const Pass& pass, int64_t n) const {
  at::Tensor rows = at::empty({count_ + n, channels_},
                              at::TensorOptions().dtype(dtype_).device(pass.state.device()));
  if (count_ > 0) rows.narrow(0, 0, count_).copy_(pass.state[slot_]);
  return rows;
}

at::Tensor CarriedRows::fresh(const at::Tensor& rows) const {
  return count_ > 0 ? rows.narrow(0, count_, rows.size(0) - count_) : rows;
}

void CarriedRows::keep(Pass& pass, const at::Tensor& rows) const {
  // A copy: a view would keep the whole buffer.
  if (count_ > 0) pass.state.set(slot_, rows.narrow(0, rows.size(0) - count_, count_).clone());
}

at::Tensor CarriedRows::joined(const Pass& pass, const at::Tensor& x) const {
  if (count_ == 0 && x.scalar_type() == dtype_ && x.is_contiguous()) return x;
  at::Tensor rows = open(pass, x.size(0));
  fresh(rows).copy_(x);
  return rows;
}

}  // namespace remora::codec
