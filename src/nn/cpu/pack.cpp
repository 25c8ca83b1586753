#include "nn/cpu/pack.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "nn/cpu/loops.h"

namespace remora::nn::cpu {
namespace {

// Rounds to nearest even; subnormal results become 0, which a scale never needs.
uint16_t float_to_half(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = bits >> 16 & 0x8000;
  const int32_t exponent = static_cast<int32_t>(bits >> 23 & 255) - 112;
  if (exponent <= 0) return static_cast<uint16_t>(sign);
  if (exponent >= 31) return static_cast<uint16_t>(sign | 0x7bff);  // the largest finite number
  const uint32_t whole = static_cast<uint32_t>(exponent) << 23 | (bits & 0x7fffff);
  const uint32_t rounded = (whole + 0xfff + (whole >> 13 & 1)) >> 13;
  return static_cast<uint16_t>(sign | std::min<uint32_t>(rounded, 0x7bff));
}

float largest(const float* x, int64_t n) {
  float out = 0;
  for (int64_t i = 0; i < n; ++i) {
    if (std::fabs(x[i]) > std::fabs(out)) out = x[i];
  }
  return out;
}

int32_t nearest(float value, int32_t low, int32_t high) {
  return std::clamp(static_cast<int32_t>(std::lrintf(value)), low, high);
}

void pack_int8(const MatrixView& m, const float* rows, uint8_t* out, float* scales) {
  const int64_t padded = m.padded_cols();
  for (int64_t r = 0; r < kBlockRows; ++r) {
    const float* row = rows + r * m.cols;
    const float scale = std::fabs(largest(row, m.cols)) / 127;
    scales[r] = scale;
    for (int64_t k = 0; k < padded; ++k) {
      const float value = k < m.cols && scale > 0 ? row[k] / scale : 0;
      out[k / 4 * 4 * kBlockRows + 4 * r + k % 4] =
          static_cast<uint8_t>(nearest(value, -127, 127) + 128);
    }
  }
}

void pack_int4(const MatrixView& m, const float* rows, uint8_t* out, uint16_t* scales) {
  const int64_t padded = m.padded_cols();
  std::memset(out, 0, static_cast<size_t>(padded * kBlockRows / 2));
  for (int64_t r = 0; r < kBlockRows; ++r) {
    for (int64_t k = 0; k < padded; k += m.group) {
      const int64_t n = std::clamp<int64_t>(m.cols - k, 0, m.group);
      const uint16_t half = float_to_half(largest(rows + r * m.cols + k, n) / -8);
      const float scale = half_to_float(half);
      scales[k / m.group * kBlockRows + r] = half;
      for (int64_t i = 0; i < m.group; ++i) {
        const float value = i < n && scale != 0 ? rows[r * m.cols + k + i] / scale : 0;
        const auto stored = static_cast<uint8_t>(nearest(value, -8, 7) + 8);
        const int64_t column = k + i;
        uint8_t& pair = out[column / 8 * 4 * kBlockRows + 4 * r + column % 4];
        pair = static_cast<uint8_t>(pair | (column % 8 < 4 ? stored : stored << 4));
      }
    }
  }
}

// `in`: the row's first four values of the block; the next four are a vector register further.
void unpack_int8_row(const MatrixView& m, const uint8_t* in, float scale, float* row) {
  const int64_t whole = m.cols / 4 * 4;
  for (int64_t k = 0; k < whole; k += 4) {
    const uint8_t* four = in + k * kBlockRows;
    for (int64_t j = 0; j < 4; ++j) row[k + j] = static_cast<float>(four[j] - 128) * scale;
  }
  for (int64_t k = whole; k < m.cols; ++k) {
    row[k] = static_cast<float>(in[whole * kBlockRows + k % 4] - 128) * scale;
  }
}

void unpack_int4_row(const MatrixView& m, const uint8_t* in, const uint16_t* scales, float* row) {
  for (int64_t k = 0; k < m.cols; k += 8) {
    const uint8_t* pairs = in + k / 2 * kBlockRows;
    const float scale = half_to_float(scales[k / m.group * kBlockRows]);
    float eight[8];
    for (int64_t j = 0; j < 4; ++j) {
      eight[j] = static_cast<float>((pairs[j] & 15) - 8) * scale;
      eight[4 + j] = static_cast<float>((pairs[j] >> 4) - 8) * scale;
    }
    std::copy_n(eight, std::min<int64_t>(8, m.cols - k), row + k);
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
  for (int64_t r = 0; r < kBlockRows; ++r) {
    float* row = rows + r * m.cols;
    if (m.kind == MatrixKind::kInt8) {
      unpack_int8_row(m, in + 4 * r, static_cast<const float*>(scale)[r], row);
    } else {
      unpack_int4_row(m, in + 4 * r, static_cast<const uint16_t*>(scale) + r, row);
    }
  }
}

}  // namespace remora::nn::cpu
