// What the kernels for 64-bit ARM share. Unnamed namespace: see loops.h.
#pragma once

#include <arm_neon.h>

#include "nn/cpu/loops.h"

namespace remora::nn::cpu {
namespace {

// Sum of x's 16-bit columns begin .. end - 1, multiples of 32.
inline int32_t column_sum(const Quantised& x, int64_t begin, int64_t end) {
  int32_t high = 0, low = 0;
  for (int64_t part = begin / 32; part < end / 32; ++part) {
    high += x.high_sum[part];
    low += x.low_sum[part];
  }
  return 256 * high + low;
}

// Whole sums of both planes: below 2^28 for 64 columns of 8 bits.
inline int32x4_t joined(int32x4_t high, int32x4_t low) {
  return vaddq_s32(vshlq_n_s32(high, 8), low);
}

// The scales of four rows.
inline float32x4_t half_scales(const uint16_t* half) {
  return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(half)));
}

}  // namespace
}  // namespace remora::nn::cpu
