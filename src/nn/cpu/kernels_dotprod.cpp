// For 64-bit ARM processors with byte dot products (SDOT). The matrix products of bytes that newer
// ones have (i8mm) take eight columns of two rows at a time, which blocks of four columns are not.
#include <arm_neon.h>

#include "nn/cpu/kernel_sets.h"
#include "nn/cpu/loops.h"
#include "nn/cpu/neon.h"

namespace remora::nn::cpu {
namespace {

// Columns that are loaded at once; a lane of an activation's register holds four of them.
constexpr int64_t kColumns = 16;

// The planes of 16 columns of each vector.
template <int kVectors>
struct Planes {
  int8x16_t high[kVectors], low[kVectors];

  Planes(const Input* in, int64_t column) {
    for (int v = 0; v < kVectors; ++v) {
      high[v] = vld1q_s8(in[v].quantised.high + column);
      low[v] = vld1q_s8(in[v].quantised.low + column);
    }
  }
};

// Both planes' sums of kQuads times four rows: a lane for each row.
template <int kQuads, int kVectors>
struct Sums {
  int32x4_t high[kQuads][kVectors] = {}, low[kQuads][kVectors] = {};

  // w: four columns of four rows, those of lane kLane of x.
  template <int kLane>
  void add(int quad, int8x16_t w, const Planes<kVectors>& x) {
    for (int v = 0; v < kVectors; ++v) {
      high[quad][v] = vdotq_laneq_s32(high[quad][v], w, x.high[v], kLane);
      low[quad][v] = vdotq_laneq_s32(low[quad][v], w, x.low[v], kLane);
    }
  }
};

// w: the quad's four columns of lane kLane in a block, stored as values + 128.
template <int kLane, int kQuads, int kVectors>
void add_int8(const uint8_t* w, const Planes<kVectors>& x, Sums<kQuads, kVectors>& sums) {
  for (int q = 0; q < kQuads; ++q) {
    // Flipping the top bit turns value + 128 into the value.
    const uint8x16_t stored = vld1q_u8(w + kLane * 64 + 16 * q);
    const int8x16_t weights = vreinterpretq_s8_u8(veorq_u8(stored, vdupq_n_u8(128)));
    sums.template add<kLane>(q, weights, x);
  }
}

// w: the quad's eight columns of lanes kLane and kLane + 1 in a block, stored as values + 8.
template <int kLane, int kQuads, int kVectors>
void add_int4(const uint8_t* w, const Planes<kVectors>& x, Sums<kQuads, kVectors>& sums) {
  for (int q = 0; q < kQuads; ++q) {
    const uint8x16_t pairs = vld1q_u8(w + kLane * 32 + 16 * q);
    const uint8x16_t first = vandq_u8(pairs, vdupq_n_u8(15)), second = vshrq_n_u8(pairs, 4);
    sums.template add<kLane>(q, vreinterpretq_s8_u8(first), x);
    sums.template add<kLane + 1>(q, vreinterpretq_s8_u8(second), x);
  }
}

// 4 * kQuads rows from `row` on, all in one block, for kVectors input vectors.
template <int kQuads, int kVectors>
void int8_rows(const MatrixView& m, const Input* in, int64_t row, float* const* y) {
  const int64_t cols = m.padded_cols(), in_block = row % kBlockRows;
  const uint8_t* w = static_cast<const uint8_t*>(m.data) + (row - in_block) * cols + in_block * 4;
  const float* scale = static_cast<const float*>(m.scales) + row;
  float32x4_t out[kQuads][kVectors] = {};
  for (int64_t k = 0; k < cols; k += kGroup) {
    Sums<kQuads, kVectors> sums;
    for (int64_t j = k; j < k + kGroup; j += kColumns, w += kColumns * kBlockRows) {
      const Planes<kVectors> x(in, j);
      add_int8<0>(w, x, sums);
      add_int8<1>(w, x, sums);
      add_int8<2>(w, x, sums);
      add_int8<3>(w, x, sums);
    }
    for (int v = 0; v < kVectors; ++v) {
      const float s = in[v].quantised.scale[k / kGroup];
      for (int q = 0; q < kQuads; ++q) {
        const int32x4_t whole = joined(sums.high[q][v], sums.low[q][v]);
        out[q][v] = vfmaq_n_f32(out[q][v], vcvtq_f32_s32(whole), s);
      }
    }
  }
  for (int q = 0; q < kQuads; ++q) {
    const float32x4_t s = vld1q_f32(scale + 4 * q);
    for (int v = 0; v < kVectors; ++v) vst1q_f32(y[v] + row + 4 * q, vmulq_f32(out[q][v], s));
  }
}

template <int kQuads, int kVectors>
void int4_rows(const MatrixView& m, const Input* in, int64_t row, float* const* y) {
  const int64_t cols = m.padded_cols(), in_block = row % kBlockRows, block = row - in_block;
  const uint8_t* w = static_cast<const uint8_t*>(m.data) + block * cols / 2 + in_block * 4;
  const uint16_t* scale =
      static_cast<const uint16_t*>(m.scales) + block * (cols / m.group) + in_block;
  float32x4_t out[kQuads][kVectors] = {};
  for (int64_t k = 0; k < cols; k += m.group, scale += kBlockRows) {
    Sums<kQuads, kVectors> sums;
    for (int64_t j = k; j < k + m.group; j += kColumns, w += kColumns * kBlockRows / 2) {
      const Planes<kVectors> x(in, j);
      add_int4<0>(w, x, sums);
      add_int4<2>(w, x, sums);
    }
    for (int v = 0; v < kVectors; ++v) {
      const float s = in[v].quantised.scale[k / kGroup];
      const int32x4_t excess = vdupq_n_s32(8 * column_sum(in[v].quantised, k, k + m.group));
      for (int q = 0; q < kQuads; ++q) {
        const int32x4_t whole = vsubq_s32(joined(sums.high[q][v], sums.low[q][v]), excess);
        const float32x4_t of_weights = vmulq_n_f32(half_scales(scale + 4 * q), s);
        out[q][v] = vfmaq_f32(out[q][v], vcvtq_f32_s32(whole), of_weights);
      }
    }
  }
  for (int q = 0; q < kQuads; ++q) {
    for (int v = 0; v < kVectors; ++v) vst1q_f32(y[v] + row + 4 * q, out[q][v]);
  }
}

template <int kVectors>
void quantised(const MatrixView& m, const Input* in, int64_t begin, int64_t end, float* const* y) {
  // As many rows at once as the registers hold the sums of.
  constexpr int kQuads = kVectors == 1 ? 4 : 2;
  for (int64_t row = begin; row < end; row += 4 * kQuads) {
    m.kind == MatrixKind::kInt8 ? int8_rows<kQuads, kVectors>(m, in, row, y)
                                : int4_rows<kQuads, kVectors>(m, in, row, y);
  }
}

void quantised_n(const MatrixView& m, const Input* in, int n, int64_t begin, int64_t end,
                 float* const* y) {
  with_count(n, [&](auto count) { quantised<count>(m, in, begin, end, y); });
}

}  // namespace

const Kernels kDotProduct{"neon-dotprod", gemv<quantised_n>, quantise, rms_norm, silu_mul,
                          attend,         to_bf16,           unpack};

}  // namespace remora::nn::cpu
