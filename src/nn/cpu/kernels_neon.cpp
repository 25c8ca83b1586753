// For every 64-bit ARM processor. Rows are worked on in quads: a register of a block holds four
// columns of four rows.
#include <arm_neon.h>

#include "nn/cpu/kernel_sets.h"
#include "nn/cpu/loops.h"
#include "nn/cpu/neon.h"

namespace remora::nn::cpu {
namespace {

constexpr int kQuads = kBlockRows / 4;

// 8-bit weights are widened and multiplied by 16 bits; a register of sums holds one row.
struct RowSums {
  int32x4_t of_row[kBlockRows] = {};

  // w: four columns of a quad, stored as values + 128.
  void add(int quad, uint8x16_t w, int16x8_t x) {
    const int16x8_t front = vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(w)));
    const int16x8_t back = vreinterpretq_s16_u16(vmovl_high_u8(w));
    int32x4_t* rows = of_row + 4 * quad;
    rows[0] = vmlal_s16(rows[0], vget_low_s16(front), vget_low_s16(x));
    rows[1] = vmlal_high_s16(rows[1], front, x);
    rows[2] = vmlal_s16(rows[2], vget_low_s16(back), vget_low_s16(x));
    rows[3] = vmlal_high_s16(rows[3], back, x);
  }
  int32x4_t total(int quad) const {
    const int32x4_t* rows = of_row + 4 * quad;
    return vpaddq_s32(vpaddq_s32(rows[0], rows[1]), vpaddq_s32(rows[2], rows[3]));
  }
};

void int8_block(const MatrixView& m, const Input& in, int64_t row, float* y) {
  const int64_t cols = m.padded_cols();
  const uint8_t* w = static_cast<const uint8_t*>(m.data) + row * cols;
  const float* scale = static_cast<const float*>(m.scales) + row;
  float32x4_t out[kQuads] = {};
  for (int64_t k = 0; k < cols; k += kGroup) {
    RowSums sums;
    for (int64_t j = k; j < k + kGroup; j += 4, w += 64) {
      const int16x4_t four = vld1_s16(in.quantised.wide + j);
      const int16x8_t x = vcombine_s16(four, four);
      for (int q = 0; q < kQuads; ++q) sums.add(q, vld1q_u8(w + 16 * q), x);
    }
    const int32x4_t excess = vdupq_n_s32(128 * column_sum(in.quantised, k, k + kGroup));
    const float s = in.quantised.scale[k / kGroup];
    for (int q = 0; q < kQuads; ++q) {
      out[q] = vfmaq_n_f32(out[q], vcvtq_f32_s32(vsubq_s32(sums.total(q), excess)), s);
    }
  }
  for (int q = 0; q < kQuads; ++q) {
    vst1q_f32(y + row + 4 * q, vmulq_f32(out[q], vld1q_f32(scale + 4 * q)));
  }
}

// Four columns of a plane, for every row of a quad.
int8x16_t four_columns(const int8_t* plane) {
  int32_t bits;
  std::memcpy(&bits, plane, sizeof bits);
  return vreinterpretq_s8_s32(vdupq_n_s32(bits));
}

// 32 columns of a plane, spread out once for all quads.
struct Columns {
  int8x16_t fours[8];

  explicit Columns(const int8_t* plane) {
    for (int i = 0; i < 8; ++i) fours[i] = four_columns(plane + 4 * i);
  }
};

// 4-bit weights are multiplied by a plane of bytes and summed in 16 bits, for 32 columns at most: a
// lane then holds 8 products of up to 15 * 128, and a pair of lanes stays below 2^15.
struct PlaneSums {
  int16x8_t front = {}, back = {};  // two rows each, four columns of either

  void add(int8x16_t w, int8x16_t x) {
    front = vmlal_s8(front, vget_low_s8(w), vget_low_s8(x));
    back = vmlal_high_s8(back, w, x);
  }
  int32x4_t total() const { return vpaddlq_s16(vpaddq_s16(front, back)); }
};

// Sums of 32 columns of a quad, for weights as they are stored: values + 8.
int32x4_t int4_quad(const uint8_t* w, const Columns& x_high, const Columns& x_low) {
  PlaneSums high, low;
  for (int i = 0; i < 8; i += 2, w += 64) {
    const uint8x16_t pairs = vld1q_u8(w);
    const int8x16_t first = vreinterpretq_s8_u8(vandq_u8(pairs, vdupq_n_u8(15)));
    const int8x16_t second = vreinterpretq_s8_u8(vshrq_n_u8(pairs, 4));
    high.add(first, x_high.fours[i]);
    low.add(first, x_low.fours[i]);
    high.add(second, x_high.fours[i + 1]);
    low.add(second, x_low.fours[i + 1]);
  }
  return joined(high.total(), low.total());
}

void int4_block(const MatrixView& m, const Input& in, int64_t row, float* y) {
  const int64_t cols = m.padded_cols();
  const uint8_t* w = static_cast<const uint8_t*>(m.data) + row * cols / 2;
  const uint16_t* scale = static_cast<const uint16_t*>(m.scales) + row * (cols / m.group);
  float32x4_t out[kQuads] = {};
  for (int64_t k = 0; k < cols; k += m.group, scale += kBlockRows) {
    int32x4_t sums[kQuads];
    for (int32x4_t& sum : sums) sum = vdupq_n_s32(-8 * column_sum(in.quantised, k, k + m.group));
    for (int64_t part = k; part < k + m.group; part += 32) {
      const Columns high(in.quantised.high + part), low(in.quantised.low + part);
      const uint8_t* first = w + part * kBlockRows / 2;
      for (int q = 0; q < kQuads; ++q) {
        sums[q] = vaddq_s32(sums[q], int4_quad(first + 16 * q, high, low));
      }
    }
    const float s = in.quantised.scale[k / kGroup];
    for (int q = 0; q < kQuads; ++q) {
      const float32x4_t of_weights = vmulq_n_f32(half_scales(scale + 4 * q), s);
      out[q] = vfmaq_f32(out[q], vcvtq_f32_s32(sums[q]), of_weights);
    }
  }
  for (int q = 0; q < kQuads; ++q) vst1q_f32(y + row + 4 * q, out[q]);
}

}  // namespace

const Kernels kNeon{
    "neon", gemv<one_by_one<int8_block, int4_block>>, quantise, rms_norm, silu_mul, attend, to_bf16,
    unpack};

}  // namespace remora::nn::cpu
