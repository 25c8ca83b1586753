#include "nn/cpu/pack.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "nn/cpu/loops.h"

namespace remora::nn::cpu {
namespace {

// Rounds to nearest even; subnormal results become 0, which a scale never needs. NaN stays NaN.
uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  const int32_t exponent = static_cast<int32_t>(bits >> 23 & 255) - 112;
  if (value != value) return 0x7e00;
  if (exponent <= 0) return static_cast<uint16_t>(sign);
  if (exponent >= 31) return static_cast<uint16_t>(sign | 0x7bff);  // the largest finite number
  const uint32_t whole = static_cast<uint32_t>(exponent) << 23 | (bits & 0x7fffff);
  const uint32_t rounded = (whole + 0xfff + (whole >> 13 & 1)) >> 13;
  return static_cast<uint16_t>(sign | std::min<uint32_t>(rounded, 0x7bff));
}

// The number of largest size, with its sign; NaN when any is none or infinite, so that the scale
// made of it, and every product with it, shows the damage.
float largest(const float* x, int64_t n) {
  if (!std::isfinite(top_size(x, n))) return std::numeric_limits<float>::quiet_NaN();
  float low = 0, high = 0;
#pragma omp simd reduction(min : low) reduction(max : high)
  for (int64_t i = 0; i < n; ++i) {
    low = x[i] < low ? x[i] : low;
    high = x[i] > high ? x[i] : high;
  }
  return -low > high ? low : high;
}

// x * inverse rounded to the nearest whole number of low .. high, plus `offset`.
void round_to(const float* x, int64_t n, float inverse, float low, float high, int32_t offset,
              uint8_t* out) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const float scaled = bounded(x[i] * inverse, low, high);
    const auto whole = static_cast<int32_t>(scaled + (scaled < 0 ? -0.5F : 0.5F));
    out[i] = static_cast<uint8_t>(whole + offset);
  }
}

void pack_int8(const MatrixView& m, const float* rows, uint8_t* out, float* scales) {
  std::vector<uint8_t> stored(static_cast<size_t>(m.padded_cols()), 128);
  for (int64_t r = 0; r < kBlockRows; ++r) {
    const float* row = rows + r * m.cols;
    scales[r] = std::fabs(largest(row, m.cols)) / 127;
    const float inverse = scales[r] > 0 ? 1 / scales[r] : 0;
    round_to(row, m.cols, inverse, -127, 127, 128, stored.data());
    for (size_t k = 0; k < stored.size(); k += 4) {
      std::memcpy(out + k * kBlockRows + 4 * r, stored.data() + k, 4);
    }
  }
}

void pack_int4(const MatrixView& m, const float* rows, uint8_t* out, uint16_t* scales) {
  std::vector<uint8_t> stored(static_cast<size_t>(m.padded_cols()));
  for (int64_t r = 0; r < kBlockRows; ++r) {
    const float* row = rows + r * m.cols;
    std::fill(stored.begin(), stored.end(), uint8_t{8});
    for (int64_t k = 0; k < m.padded_cols(); k += m.group) {
      const int64_t n = std::clamp<int64_t>(m.cols - k, 0, m.group);
      const uint16_t half = float_to_half(largest(row + k, n) / -8);
      const float scale = half_to_float(half);
      scales[k / m.group * kBlockRows + r] = half;
      round_to(row + k, n, scale != 0 ? 1 / scale : 0, -8, 7, 8, stored.data() + k);
    }
    for (size_t k = 0; k < stored.size(); k += 8) {
      uint8_t* pairs = out + k / 2 * kBlockRows + 4 * r;
      for (size_t j = 0; j < 4; ++j) {
        pairs[j] = static_cast<uint8_t>(stored[k + j] | stored[k + 4 + j] << 4);
      }
    }
  }
}

// `in`: the row's first bytes of the block. `stored`: scratch of the padded columns.
void unpack_int8_row(const MatrixView& m, const uint8_t* in, float scale, uint8_t* stored,
                     float* row) {
  for (int64_t k = 0; k < m.padded_cols(); k += 4) {
    std::memcpy(stored + k, in + k * kBlockRows, 4);
  }
#pragma omp simd
  for (int64_t k = 0; k < m.cols; ++k) row[k] = static_cast<float>(stored[k] - 128) * scale;
}

void unpack_int4_row(const MatrixView& m, const uint8_t* in, const uint16_t* scales,
                     uint8_t* stored, float* row) {
  for (int64_t k = 0; k < m.padded_cols(); k += 8) {
    const uint8_t* pairs = in + k / 2 * kBlockRows;
    for (int64_t j = 0; j < 4; ++j) {
      stored[k + j] = pairs[j] & 15;
      stored[k + 4 + j] = static_cast<uint8_t>(pairs[j] >> 4);
    }
  }
  for (int64_t k = 0; k < m.cols; k += m.group) {
    const float scale = half_to_float(scales[k / m.group * kBlockRows]);
    const int64_t end = std::min(k + m.group, m.cols);
#pragma omp simd
    for (int64_t i = k; i < end; ++i) row[i] = static_cast<float>(stored[i] - 8) * scale;
  }
}

}  // namespace

size_t packed_bytes(const MatrixView& m) {
  const auto bytes = static_cast<size_t>(m.padded_rows() * m.padded_cols());
  return m.kind == MatrixKind::kInt8 ? bytes : bytes / 2;
}

size_t scale_bytes(const MatrixView& m) {
  const auto rows = static_cast<size_t>(m.padded_rows());
  return m.kind == MatrixKind::kInt8
             ? rows * sizeof(float)
             : rows * static_cast<size_t>(m.padded_cols() / m.group) * sizeof(uint16_t);
}

std::vector<int64_t> packed_shape(const MatrixView& m) {
  const int64_t columns_of_four_bytes = m.kind == MatrixKind::kInt8 ? 4 : 8;
  return {m.padded_rows() / kBlockRows, m.padded_cols() / columns_of_four_bytes, kBlockRows, 4};
}

std::vector<int64_t> scale_shape(const MatrixView& m) {
  const int64_t blocks = m.padded_rows() / kBlockRows;
  if (m.kind == MatrixKind::kInt8) return {blocks, kBlockRows};
  return {blocks, m.padded_cols() / m.group, kBlockRows};
}

void pack_block(const MatrixView& m, const float* rows, int64_t block, uint8_t* data,
                void* scales) {
  const auto blocks = static_cast<size_t>(m.padded_rows() / kBlockRows);
  uint8_t* out = data + static_cast<size_t>(block) * (packed_bytes(m) / blocks);
  void* scale = static_cast<char*>(scales) + static_cast<size_t>(block) * (scale_bytes(m) / blocks);
  if (m.kind == MatrixKind::kInt8) {
    pack_int8(m, rows, out, static_cast<float*>(scale));
  } else {
    pack_int4(m, rows, out, static_cast<uint16_t*>(scale));
  }
}

void unpack_block(const MatrixView& m, int64_t block, float* rows) {
  const auto blocks = static_cast<size_t>(m.padded_rows() / kBlockRows);
  const uint8_t* in =
      static_cast<const uint8_t*>(m.data) + static_cast<size_t>(block) * (packed_bytes(m) / blocks);
  const void* scale =
      static_cast<const char*>(m.scales) + static_cast<size_t>(block) * (scale_bytes(m) / blocks);
  std::vector<uint8_t> stored(static_cast<size_t>(m.padded_cols()));
  for (int64_t r = 0; r < kBlockRows; ++r) {
    float* row = rows + r * m.cols;
    if (m.kind == MatrixKind::kInt8) {
      unpack_int8_row(m, in + 4 * r, static_cast<const float*>(scale)[r], stored.data(), row);
    } else {
      unpack_int4_row(m, in + 4 * r, static_cast<const uint16_t*>(scale) + r, stored.data(), row);
    }
  }
}

}  // namespace remora::nn::cpu
