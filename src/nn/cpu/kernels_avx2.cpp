// For processors with AVX2, FMA and F16C: 16-bit products of weights widened from bytes.
#include <immintrin.h>

#include "nn/cpu/kernel_sets.h"
#include "nn/cpu/loops.h"

namespace remora::nn::cpu {
namespace {

// Four rows of a block: each register holds two partial sums of every row.
struct Quad {
  __m256i sum = _mm256_setzero_si256();

  // w: four columns of four rows, 16 bits each; x: four columns in every 64 bits.
  void add(__m256i w, __m256i x) { sum = _mm256_add_epi32(sum, _mm256_madd_epi16(w, x)); }
  // One sum a row.
  __m128 total() const {
    const __m256i pairs = _mm256_hadd_epi32(sum, sum);  // rows 0 1 0 1 | 2 3 2 3
    const __m128i rows =
        _mm_unpacklo_epi64(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
    return _mm_cvtepi32_ps(rows);
  }
};

__m256i four_columns(const int16_t* x) {
  int64_t bits;
  std::memcpy(&bits, x, sizeof bits);
  return _mm256_set1_epi64x(bits);
}

__m128i load16(const uint8_t* p) {
  _mm_prefetch(reinterpret_cast<const char*>(p) + kAhead, _MM_HINT_T0);
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
}

void int8_block(const MatrixView& m, const Input& in, int64_t row, float* y) {
  const int64_t cols = m.padded_cols();
  const uint8_t* w = static_cast<const uint8_t*>(m.data) + row * cols;
  const float* scale = static_cast<const float*>(m.scales) + row;
  const __m128i offset = _mm_set1_epi8(static_cast<char>(0x80));
  __m128 out[4] = {_mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps()};
  for (int64_t k = 0; k < cols; k += kGroup) {
    Quad quads[4];
    for (int64_t j = k; j < k + kGroup; j += 4, w += 64) {
      const __m256i x = four_columns(in.quantised.wide + j);
      for (int i = 0; i < 4; ++i) {
        // Flipping the top bit turns value + 128 into the value.
        quads[i].add(_mm256_cvtepi8_epi16(_mm_xor_si128(load16(w + 16 * i), offset)), x);
      }
    }
    const __m128 s = _mm_set1_ps(in.quantised.scale[k / kGroup]);
    for (int i = 0; i < 4; ++i) out[i] = _mm_fmadd_ps(quads[i].total(), s, out[i]);
  }
  for (int i = 0; i < 4; ++i) {
    _mm_storeu_ps(y + row + 4 * i, _mm_mul_ps(out[i], _mm_loadu_ps(scale + 4 * i)));
  }
}

void int4_block(const MatrixView& m, const Input& in, int64_t row, float* y) {
  const int64_t cols = m.padded_cols();
  const uint8_t* w = static_cast<const uint8_t*>(m.data) + row * cols / 2;
  const uint16_t* scale = static_cast<const uint16_t*>(m.scales) + row * (cols / m.group);
  const __m128i low_half = _mm_set1_epi8(15), eight = _mm_set1_epi8(8);
  __m128 out[4] = {_mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps()};
  for (int64_t k = 0; k < cols; k += m.group, scale += kBlockRows) {
    Quad quads[4];
    for (int64_t j = k; j < k + m.group; j += 8, w += 64) {
      const __m256i x0 = four_columns(in.quantised.wide + j);
      const __m256i x1 = four_columns(in.quantised.wide + j + 4);
      for (int i = 0; i < 4; ++i) {
        const __m128i pairs = load16(w + 16 * i);
        const __m128i first = _mm_sub_epi8(_mm_and_si128(pairs, low_half), eight);
        const __m128i second =
            _mm_sub_epi8(_mm_and_si128(_mm_srli_epi16(pairs, 4), low_half), eight);
        quads[i].add(_mm256_cvtepi8_epi16(first), x0);
        quads[i].add(_mm256_cvtepi8_epi16(second), x1);
      }
    }
    const __m128 s = _mm_set1_ps(in.quantised.scale[k / kGroup]);
    for (int i = 0; i < 4; ++i) {
      const __m128i half = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(scale + 4 * i));
      out[i] = _mm_fmadd_ps(quads[i].total(), _mm_mul_ps(s, _mm_cvtph_ps(half)), out[i]);
    }
  }
  for (int i = 0; i < 4; ++i) _mm_storeu_ps(y + row + 4 * i, out[i]);
}

}  // namespace

const Kernels kAvx2{
    "avx2", gemv<one_by_one<int8_block, int4_block>>, quantise, rms_norm, silu_mul, attend, to_bf16,
    unpack};

}  // namespace remora::nn::cpu
