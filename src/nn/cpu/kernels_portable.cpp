// For any processor, in plain C++.
#include "nn/cpu/kernel_sets.h"
#include "nn/cpu/loops.h"

namespace remora::nn::cpu {
namespace {

// Integer sums of one group of columns for the 16 rows of a block.
using Sums = int32_t[kBlockRows];

void int8_group(const uint8_t* w, const int16_t* x, Sums& sums) {
  for (int64_t k = 0; k < kGroup; k += 4, w += 4 * kBlockRows) {
    for (int64_t r = 0; r < kBlockRows; ++r) {
      for (int64_t j = 0; j < 4; ++j) {
        sums[r] += (static_cast<int32_t>(w[4 * r + j]) - 128) * x[k + j];
      }
    }
  }
}

void int8_block(const MatrixView& m, const Input& in, int64_t row, float* y) {
  const int64_t cols = m.padded_cols();
  const uint8_t* w = static_cast<const uint8_t*>(m.data) + row * cols;
  const float* scale = static_cast<const float*>(m.scales) + row;
  float out[kBlockRows] = {};
  for (int64_t k = 0; k < cols; k += kGroup) {
    Sums sums = {};
    int8_group(w + k * kBlockRows, in.quantised.wide + k, sums);
    const float s = in.quantised.scale[k / kGroup];
    for (int64_t r = 0; r < kBlockRows; ++r) out[r] += s * static_cast<float>(sums[r]);
  }
  for (int64_t r = 0; r < kBlockRows; ++r) y[row + r] = out[r] * scale[r];
}

void int4_group(const uint8_t* w, const int16_t* x, int64_t group, Sums& sums) {
  for (int64_t k = 0; k < group; k += 8, w += 4 * kBlockRows) {
    for (int64_t r = 0; r < kBlockRows; ++r) {
      for (int64_t j = 0; j < 4; ++j) {
        const int32_t pair = w[4 * r + j];
        sums[r] += ((pair & 15) - 8) * x[k + j] + ((pair >> 4) - 8) * x[k + 4 + j];
      }
    }
  }
}

void int4_block(const MatrixView& m, const Input& in, int64_t row, float* y) {
  const int64_t cols = m.padded_cols();
  const uint8_t* w = static_cast<const uint8_t*>(m.data) + row * cols / 2;
  const uint16_t* scale = static_cast<const uint16_t*>(m.scales) + row * (cols / m.group);
  float out[kBlockRows] = {};
  for (int64_t k = 0; k < cols; k += m.group) {
    Sums sums = {};
    int4_group(w + k * kBlockRows / 2, in.quantised.wide + k, m.group, sums);
    const float s = in.quantised.scale[k / kGroup];
    for (int64_t r = 0; r < kBlockRows; ++r) {
      out[r] +=
          s * half_to_float(scale[k / m.group * kBlockRows + r]) * static_cast<float>(sums[r]);
    }
  }
  for (int64_t r = 0; r < kBlockRows; ++r) y[row + r] = out[r];
}

}  // namespace

const Kernels kPortable{"portable", gemv<one_by_one<int8_block, int4_block>>,
                        quantise,   rms_norm,
                        silu_mul,   attend,
                        to_bf16,    unpack};

}  // namespace remora::nn::cpu
