// Kernels as plain loops. Each instruction set's file includes this once and compiles it with its
// own flags; the `simd` pragmas allow the reordering of sums that vector registers need.
//
// Everything is in an unnamed namespace on purpose: the same names compiled for different
// instruction sets must never be merged by the linker.
#pragma once

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "nn/cpu/kernels.h"

namespace remora::nn::cpu {
namespace {

// Bytes to fetch ahead of use: far enough for memory, near enough to stay in the first cache.
constexpr int64_t kAhead = 1024;

inline float widen(uint16_t bf16) { return std::bit_cast<float>(uint32_t{bf16} << 16); }
inline float widen(float value) { return value; }

inline float half_to_float(uint16_t h) {
  const uint32_t sign = uint32_t{h} >> 15 << 31, exponent = (h >> 10) & 31, mantissa = h & 1023;
  if (exponent == 0) {  // zero and subnormal: exact by arithmetic
    const float value = static_cast<float>(mantissa) * 0x1p-24F;
    return sign != 0 ? -value : value;
  }
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | (mantissa << 13));
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
}

// One vector register of floats.
#if defined(__AVX512F__)
constexpr int64_t kLanes = 16;
#elif defined(__AVX2__)
constexpr int64_t kLanes = 8;
#else
constexpr int64_t kLanes = 4;
#endif
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));

inline Lanes load(const float* p) {
  Lanes out;
  std::memcpy(&out, p, sizeof out);
  return out;
}
// bf16 is the upper half of a float32. The compiler's own widening takes several times as long.
inline Lanes load(const uint16_t* bf16) {
#if defined(__AVX512F__)
  const __m256i halves = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bf16));
  return reinterpret_cast<Lanes>(_mm512_slli_epi32(_mm512_cvtepu16_epi32(halves), 16));
#elif defined(__AVX2__)
  const __m128i halves = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bf16));
  return reinterpret_cast<Lanes>(_mm256_slli_epi32(_mm256_cvtepu16_epi32(halves), 16));
#elif defined(__aarch64__)
  return std::bit_cast<Lanes>(vshlq_n_u32(vmovl_u16(vld1_u16(bf16)), 16));
#else
  using Halves = uint16_t __attribute__((vector_size(kLanes * sizeof(uint16_t))));
  using Words = uint32_t __attribute__((vector_size(kLanes * sizeof(uint32_t))));
  Halves halves;
  std::memcpy(&halves, bf16, sizeof halves);
  return std::bit_cast<Lanes>(__builtin_convertvector(halves, Words) << 16);
#endif
}
inline float total(const Lanes& lanes) {
  float sums[kLanes];
  std::memcpy(sums, &lanes, sizeof sums);
  for (int64_t width = kLanes / 2; width > 0; width /= 2) {
    for (int64_t i = 0; i < width; ++i) sums[i] += sums[i + width];
  }
  return sums[0];
}

template <typename T, int kRows, int kVectors>
void dense_rows(const T* w, const float* const* x, int64_t cols, float (*sums)[kVectors]) {
  Lanes acc[kRows][kVectors] = {};
  int64_t k = 0;
  for (; k + kLanes <= cols; k += kLanes) {
    Lanes in[kVectors];
    for (int v = 0; v < kVectors; ++v) in[v] = load(x[v] + k);
    for (int r = 0; r < kRows; ++r) {
      const T* p = w + r * cols + k;
      __builtin_prefetch(reinterpret_cast<const char*>(p) + kAhead);
      const Lanes weights = load(p);
      for (int v = 0; v < kVectors; ++v) acc[r][v] += weights * in[v];
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      float sum = total(acc[r][v]);
      for (int64_t i = k; i < cols; ++i) sum += widen(w[r * cols + i]) * x[v][i];
      sums[r][v] = sum;
    }
  }
}

template <typename T, int kVectors>
void dense(const MatrixView& m, const Input* inputs, int64_t begin, int64_t end, float* const* y) {
  const T* w = static_cast<const T*>(m.data);
  const float* x[kVectors];
  for (int v = 0; v < kVectors; ++v) x[v] = inputs[v].floats;
  constexpr int kRows = 4;
  float sums[kRows][kVectors];
  int64_t r = begin;
  for (; r + kRows <= end; r += kRows) {
    dense_rows<T, kRows, kVectors>(w + r * m.cols, x, m.cols, sums);
    for (int i = 0; i < kRows; ++i) {
      for (int v = 0; v < kVectors; ++v) y[v][r + i] = sums[i][v];
    }
  }
  for (; r < end; ++r) {
    dense_rows<T, 1, kVectors>(w + r * m.cols, x, m.cols, sums);
    for (int v = 0; v < kVectors; ++v) y[v][r] = sums[0][v];
  }
}

// use(n as a constant), for n vectors (1 .. kMaxVectors): loops over them that the compiler
// unrolls.
template <typename Use>
void with_count(int n, const Use& use) {
  static_assert(kMaxVectors == 4);
  switch (n) {
    case 1:
      return use(std::integral_constant<int, 1>());
    case 2:
      return use(std::integral_constant<int, 2>());
    case 3:
      return use(std::integral_constant<int, 3>());
    default:
      return use(std::integral_constant<int, 4>());
  }
}

template <typename T>
void dense_n(const MatrixView& m, const Input* in, int n, int64_t begin, int64_t end,
             float* const* y) {
  with_count(n, [&](auto count) { dense<T, count>(m, in, begin, end, y); });
}

inline void add_bias(const MatrixView& m, int n, int64_t begin, int64_t end, float* const* y) {
  if (m.bias == nullptr) return;
  for (int v = 0; v < n; ++v) {
    for (int64_t r = begin; r < end; ++r) y[v][r] += m.bias[r];
  }
}

// The size of the largest number, by the order of the bits: finite ones below infinity below NaN,
// so that neither of these is passed over.
inline float top_size(const float* x, int64_t n) {
  int32_t top = 0;
#pragma omp simd reduction(max : top)
  for (int64_t i = 0; i < n; ++i) {
    const int32_t size = std::bit_cast<int32_t>(x[i]) & 0x7fffffff;
    top = size > top ? size : top;
  }
  return std::bit_cast<float>(top);
}

// x within low .. high. NaN becomes `low`: the conversion of a NaN to an integer is undefined.
inline float bounded(float x, float low, float high) {
  x = x > low ? x : low;
  return x < high ? x : high;
}

// A group with a NaN or an infinity gets such a scale, and so does every product with it.
inline void quantise(const float* x, int64_t cols, int64_t padded, const Quantised& out) {
  constexpr float kRange = 32512;  // 127 * 256: the high plane stays within 8 bits
  for (int64_t g = 0; g < padded; g += kGroup) {
    const int64_t n = cols - g < kGroup ? (cols > g ? cols - g : 0) : kGroup;
    const float top = top_size(x + g, n);
    const float inverse = top > 0 ? kRange / top : 0;
    out.scale[g / kGroup] = top / kRange;
    int16_t* wide = out.wide + g;
    for (int64_t i = n; i < kGroup; ++i) wide[i] = 0;
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
      // Round half away from zero, by arithmetic that vectorises.
      const float scaled = bounded(x[g + i] * inverse, -kRange, kRange);
      wide[i] = static_cast<int16_t>(static_cast<int32_t>(scaled + (scaled < 0 ? -0.5F : 0.5F)));
    }
    for (int64_t half = 0; half < kGroup; half += 32) {
      int32_t high_sum = 0, low_sum = 0;
#pragma omp simd reduction(+ : high_sum, low_sum)
      for (int64_t i = half; i < half + 32; ++i) {
        const int32_t high = (wide[i] + 128) >> 8;
        const int32_t low = wide[i] - high * 256;
        out.high[g + i] = static_cast<int8_t>(high);
        out.low[g + i] = static_cast<int8_t>(low);
        high_sum += high;
        low_sum += low;
      }
      out.high_sum[(g + half) / 32] = high_sum;
      out.low_sum[(g + half) / 32] = low_sum;
    }
  }
}

inline void rms_norm(const float* x, const float* weight, int64_t n, float eps, float* out) {
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < n; ++i) sum += x[i] * x[i];
  const float factor = 1.0F / std::sqrt(sum / static_cast<float>(n) + eps);
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) out[i] = x[i] * factor * weight[i];
}

// e^x for x <= 0 within 2e-7 relative: 2^n times a polynomial of the fraction. NaN stays NaN.
inline float exp_negative(float x) {
  constexpr float kLog2e = 1.44269504F;
  constexpr float kLowest = -87.0F;
  // The whole part of a NaN is that of the bound, its fraction is NaN.
  const float countable = x > kLowest ? x : kLowest;
  x = x < kLowest ? kLowest : x;
  const float n = static_cast<float>(static_cast<int32_t>(countable * kLog2e - 0.5F));
  const float r = (x - n * 0.693359375F) + n * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  return p * std::bit_cast<float>((static_cast<int32_t>(n) + 127) << 23);
}

inline void silu_mul(float* gate, const float* up, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const float g = gate[i];
    const float e = exp_negative(-std::fabs(g));            // never overflows
    const float sigmoid = (g < 0 ? e : 1.0F) / (1.0F + e);  // of g, for either sign
    gate[i] = g * sigmoid * up[i];
  }
}

// Sum of products of `n` numbers.
template <typename T>
float dot(const float* a, const T* b, int64_t n) {
  Lanes acc = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) acc += load(a + i) * load(b + i);
  float sum = total(acc);
  for (; i < n; ++i) sum += a[i] * widen(b[i]);
  return sum;
}

// Scores of one query head to weights that add up to 1.
inline void softmax(float* s, int64_t positions) {
  float top = s[0];
#pragma omp simd reduction(max : top)
  for (int64_t p = 0; p < positions; ++p) top = s[p] > top ? s[p] : top;
  float sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t p = 0; p < positions; ++p) {
    s[p] = exp_negative(s[p] - top);
    sum += s[p];
  }
  const float inverse = 1.0F / sum;
#pragma omp simd
  for (int64_t p = 0; p < positions; ++p) s[p] *= inverse;
}

template <typename T>
void attend_rows(const float* q, const T* keys, const T* values, int64_t groups, int64_t positions,
                 int64_t dim, float scale, float* scores, float* out) {
  for (int64_t p = 0; p < positions; ++p) {
    for (int64_t g = 0; g < groups; ++g) {
      scores[g * positions + p] = scale * dot(q + g * dim, keys + p * dim, dim);
    }
  }
  for (int64_t g = 0; g < groups; ++g) softmax(scores + g * positions, positions);
  std::memset(out, 0, static_cast<size_t>(groups * dim) * sizeof(float));
  int64_t i = 0;
  for (; i + kLanes <= dim; i += kLanes) {
    for (int64_t g = 0; g < groups; ++g) {
      Lanes acc = {};
      for (int64_t p = 0; p < positions; ++p) {
        acc += load(values + p * dim + i) * scores[g * positions + p];
      }
      std::memcpy(out + g * dim + i, &acc, sizeof acc);
    }
  }
  for (; i < dim; ++i) {
    for (int64_t g = 0; g < groups; ++g) {
      for (int64_t p = 0; p < positions; ++p) {
        out[g * dim + i] += widen(values[p * dim + i]) * scores[g * positions + p];
      }
    }
  }
}

inline void attend(const float* q, const HeadRows& rows, int64_t groups, int64_t positions,
                   int64_t dim, float scale, float* scores, float* out) {
  if (rows.bf16) {
    attend_rows(q, static_cast<const uint16_t*>(rows.keys),
                static_cast<const uint16_t*>(rows.values), groups, positions, dim, scale, scores,
                out);
  } else {
    attend_rows(q, static_cast<const float*>(rows.keys), static_cast<const float*>(rows.values),
                groups, positions, dim, scale, scores, out);
  }
}

inline void to_bf16(const float* x, int64_t n, uint16_t* out) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t bits = std::bit_cast<uint32_t>(x[i]);
    const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    // A NaN's bits would be carried over into those of a number.
    out[i] = static_cast<uint16_t>(x[i] == x[i] ? rounded : 0x7fc0);
  }
}

// `n` numbers (whole - offset) * scale as bfloat16.
inline void scaled_to_bf16(const uint8_t* whole, int64_t n, int32_t offset, float scale,
                           uint16_t* out) {
  float values[kGroup];
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) values[i] = static_cast<float>(whole[i] - offset) * scale;
  to_bf16(values, n, out);
}

// A row's columns k .. k + 63 of a block; `in`: the row's first bytes there, `scales` its first.
inline void unpack_int8_group(const uint8_t* in, const float* scales, int64_t n, uint16_t* out) {
  uint8_t whole[kGroup];
  for (int64_t k = 0; k < kGroup; k += 4) std::memcpy(whole + k, in + k * kBlockRows, 4);
  scaled_to_bf16(whole, n, 128, *scales, out);
}

inline void unpack_int4_group(const uint8_t* in, const uint16_t* scales, int64_t group, int64_t n,
                              uint16_t* out) {
  uint8_t whole[kGroup];
  for (int64_t k = 0; k < kGroup; k += 8) {
    uint32_t pairs;
    std::memcpy(&pairs, in + k / 2 * kBlockRows, 4);
    const uint32_t low = pairs & 0x0f0f0f0f, high = pairs >> 4 & 0x0f0f0f0f;
    std::memcpy(whole + k, &low, 4);
    std::memcpy(whole + k + 4, &high, 4);
  }
  for (int64_t k = 0; k < n; k += group, scales += kBlockRows) {
    scaled_to_bf16(whole + k, n - k < group ? n - k : group, 8, half_to_float(*scales), out + k);
  }
}

inline void unpack(const MatrixView& m, int64_t block, uint16_t* rows) {
  const int64_t cols = m.padded_cols();
  const bool int8 = m.kind == MatrixKind::kInt8;
  const int64_t group_bytes = kGroup * kBlockRows / (int8 ? 1 : 2);
  const uint8_t* in = static_cast<const uint8_t*>(m.data) + block * (cols / kGroup) * group_bytes;
  for (int64_t k = 0; k < m.cols; k += kGroup, in += group_bytes) {
    const int64_t n = m.cols - k < kGroup ? m.cols - k : kGroup;
    for (int64_t r = 0; r < kBlockRows; ++r) {
      uint16_t* out = rows + r * m.cols + k;
      if (int8) {
        unpack_int8_group(in + 4 * r, static_cast<const float*>(m.scales) + block * kBlockRows + r,
                          n, out);
      } else {
        const int64_t first = (block * (cols / m.group) + k / m.group) * kBlockRows + r;
        unpack_int4_group(in + 4 * r, static_cast<const uint16_t*>(m.scales) + first, m.group, n,
                          out);
      }
    }
  }
}

// Kernels::gemv of a set. kQuantised is the same for quantised kinds, without bias.
template <auto kQuantised>
void gemv(const MatrixView& m, const Input* in, int n, int64_t begin, int64_t end,
          float* const* y) {
  switch (m.kind) {
    case MatrixKind::kF32:
      dense_n<float>(m, in, n, begin, end, y);
      break;
    case MatrixKind::kBf16:
      dense_n<uint16_t>(m, in, n, begin, end, y);
      break;
    default:
      kQuantised(m, in, n, begin, end, y);
  }
  add_bias(m, n, begin, end < m.rows ? end : m.rows, y);
}

// For gemv: by kernels of one block and one vector.
template <auto kInt8Block, auto kInt4Block>
void one_by_one(const MatrixView& m, const Input* in, int n, int64_t begin, int64_t end,
                float* const* y) {
  for (int64_t row = begin; row < end; row += kBlockRows) {
    for (int v = 0; v < n; ++v) {
      m.kind == MatrixKind::kInt8 ? kInt8Block(m, in[v], row, y[v])
                                  : kInt4Block(m, in[v], row, y[v]);
    }
  }
}

}  // namespace
}  // namespace remora::nn::cpu
