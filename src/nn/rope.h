// Rotary position embedding on interleaved pairs, with the bf16-rounded table the models were
// trained with.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace remora::nn {

// Rows `first .. first + count - 1` of the table: float32 values that are exactly bf16 numbers.
// [count, head_dim / 2, 2] = (cos, sin) of position * base^(-2j / head_dim).
at::Tensor rope_table(int64_t first, int64_t count, int64_t head_dim, double base);

// Rotates pairs (2j, 2j+1) in float32 and rounds once to x's dtype.
// x: [..., seq, head_dim]; table: [seq, head_dim / 2, 2] float32. Returns x's shape.
at::Tensor rope_rotate(const at::Tensor& x, const at::Tensor& table);

// A session's table, which grows with its positions. Not thread-safe.
class RopeCache {
 public:
  RopeCache(int64_t head_dim, double base, at::Device device);

  // Rows start .. start + count - 1: [count, head_dim / 2, 2].
  at::Tensor rows(int64_t start, int64_t count);
  // The same rows in CPU memory, valid until the table grows: [count][head_dim / 2][cos, sin].
  const float* data(int64_t start, int64_t count);
  // The row at a device position ([1] int64), which must be below what reserve() was given.
  at::Tensor row_at(const at::Tensor& position) const;
  void reserve(int64_t positions);

 private:
  int64_t head_dim_;
  double base_;
  at::Device device_;
  at::Tensor table_;  // [positions so far, head_dim / 2, 2]
};

}  // namespace remora::nn
