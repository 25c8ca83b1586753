// For processors with AVX-512 and its byte dot products (VNNI).
#include <immintrin.h>

#include "nn/cpu/kernel_sets.h"
#include "nn/cpu/loops.h"

namespace remora::nn::cpu {
namespace {

__m512i four_bytes(const int8_t* x) {
  int32_t bits;
  std::memcpy(&bits, x, sizeof bits);
  return _mm512_set1_epi32(bits);
}

__m512i load64(const uint8_t* p) {
  _mm_prefetch(reinterpret_cast<const char*>(p) + kAhead, _MM_HINT_T0);
  return _mm512_loadu_si512(p);
}

// The two planes' sums of one group as floats: 256 * high + low.
__m512 joined(__m512i high, __m512i low) {
  return _mm512_fmadd_ps(_mm512_cvtepi32_ps(high), _mm512_set1_ps(256), _mm512_cvtepi32_ps(low));
}

// kBlocks blocks of 16 rows from `row` on, kVectors input vectors, one read of the weights.
template <int kBlocks, int kVectors>
void int8_blocks(const MatrixView& m, const Input* in, int64_t row, float* const* y) {
  const int64_t cols = m.padded_cols(), block = cols * kBlockRows;
  const uint8_t* w = static_cast<const uint8_t*>(m.data) + row * cols;
  const float* scale = static_cast<const float*>(m.scales) + row;
  __m512 out[kBlocks][kVectors];
  for (auto& of_block : out) {
    for (__m512& v : of_block) v = _mm512_setzero_ps();
  }
  for (int64_t k = 0; k < cols; k += kGroup) {
    __m512i high[kBlocks][kVectors], low[kBlocks][kVectors];
    for (int v = 0; v < kVectors; ++v) {
      // Stored weights are 128 too large: their part is taken off beforehand.
      const int32_t* h = in[v].quantised.high_sum + k / 32;
      const int32_t* l = in[v].quantised.low_sum + k / 32;
      for (int b = 0; b < kBlocks; ++b) {
        high[b][v] = _mm512_set1_epi32(-128 * (h[0] + h[1]));
        low[b][v] = _mm512_set1_epi32(-128 * (l[0] + l[1]));
      }
    }
    for (int64_t j = k; j < k + kGroup; j += 4) {
      for (int b = 0; b < kBlocks; ++b) {
        const __m512i weights = load64(w + b * block + j * kBlockRows);
        for (int v = 0; v < kVectors; ++v) {
          high[b][v] =
              _mm512_dpbusd_epi32(high[b][v], weights, four_bytes(in[v].quantised.high + j));
          low[b][v] = _mm512_dpbusd_epi32(low[b][v], weights, four_bytes(in[v].quantised.low + j));
        }
      }
    }
    for (int v = 0; v < kVectors; ++v) {
      const __m512 s = _mm512_set1_ps(in[v].quantised.scale[k / kGroup]);
      for (int b = 0; b < kBlocks; ++b) {
        out[b][v] = _mm512_fmadd_ps(joined(high[b][v], low[b][v]), s, out[b][v]);
      }
    }
  }
  for (int b = 0; b < kBlocks; ++b) {
    const __m512 s = _mm512_loadu_ps(scale + b * kBlockRows);
    for (int v = 0; v < kVectors; ++v) {
      _mm512_storeu_ps(y[v] + row + b * kBlockRows, _mm512_mul_ps(out[b][v], s));
    }
  }
}

template <int kBlocks, int kVectors>
void int4_blocks(const MatrixView& m, const Input* in, int64_t row, float* const* y) {
  const int64_t cols = m.padded_cols(), block = cols * kBlockRows / 2;
  const int64_t scale_block = cols / m.group * kBlockRows;
  const uint8_t* w = static_cast<const uint8_t*>(m.data) + row * cols / 2;
  const uint16_t* scale = static_cast<const uint16_t*>(m.scales) + row * (cols / m.group);
  const __m512i low_half = _mm512_set1_epi8(15);
  __m512 out[kBlocks][kVectors];
  for (auto& of_block : out) {
    for (__m512& v : of_block) v = _mm512_setzero_ps();
  }
  for (int64_t k = 0; k < cols; k += m.group) {
    __m512i high[kBlocks][kVectors], low[kBlocks][kVectors];
    for (int v = 0; v < kVectors; ++v) {
      // Stored weights are 8 too large.
      int32_t h = 0, l = 0;
      for (int64_t part = k / 32; part < (k + m.group) / 32; ++part) {
        h += in[v].quantised.high_sum[part];
        l += in[v].quantised.low_sum[part];
      }
      for (int b = 0; b < kBlocks; ++b) {
        high[b][v] = _mm512_set1_epi32(-8 * h);
        low[b][v] = _mm512_set1_epi32(-8 * l);
      }
    }
    for (int64_t j = k; j < k + m.group; j += 8) {
      for (int b = 0; b < kBlocks; ++b) {
        const __m512i pairs = load64(w + b * block + j * kBlockRows / 2);
        const __m512i first = _mm512_and_si512(pairs, low_half);
        const __m512i second = _mm512_and_si512(_mm512_srli_epi16(pairs, 4), low_half);
        for (int v = 0; v < kVectors; ++v) {
          const Quantised& x = in[v].quantised;
          high[b][v] = _mm512_dpbusd_epi32(high[b][v], first, four_bytes(x.high + j));
          low[b][v] = _mm512_dpbusd_epi32(low[b][v], first, four_bytes(x.low + j));
          high[b][v] = _mm512_dpbusd_epi32(high[b][v], second, four_bytes(x.high + j + 4));
          low[b][v] = _mm512_dpbusd_epi32(low[b][v], second, four_bytes(x.low + j + 4));
        }
      }
    }
    for (int b = 0; b < kBlocks; ++b) {
      const __m256i half = _mm256_loadu_si256(
          reinterpret_cast<const __m256i*>(scale + b * scale_block + k / m.group * kBlockRows));
      const __m512 of_weights = _mm512_cvtph_ps(half);
      for (int v = 0; v < kVectors; ++v) {
        const __m512 s =
            _mm512_mul_ps(_mm512_set1_ps(in[v].quantised.scale[k / kGroup]), of_weights);
        out[b][v] = _mm512_fmadd_ps(joined(high[b][v], low[b][v]), s, out[b][v]);
      }
    }
  }
  for (int b = 0; b < kBlocks; ++b) {
    for (int v = 0; v < kVectors; ++v) {
      _mm512_storeu_ps(y[v] + row + b * kBlockRows, out[b][v]);
    }
  }
}

template <int kVectors>
void quantised(const MatrixView& m, const Input* in, int64_t begin, int64_t end, float* const* y) {
  // As many blocks at once as the registers hold the sums of.
  constexpr int kBlocks = kVectors <= 1 ? 4 : kVectors == 2 ? 2 : 1;
  const bool int8 = m.kind == MatrixKind::kInt8;
  int64_t row = begin;
  for (; row + kBlocks * kBlockRows <= end; row += kBlocks * kBlockRows) {
    int8 ? int8_blocks<kBlocks, kVectors>(m, in, row, y)
         : int4_blocks<kBlocks, kVectors>(m, in, row, y);
  }
  for (; row < end; row += kBlockRows) {
    int8 ? int8_blocks<1, kVectors>(m, in, row, y) : int4_blocks<1, kVectors>(m, in, row, y);
  }
}

void quantised_n(const MatrixView& m, const Input* in, int n, int64_t begin, int64_t end,
                 float* const* y) {
  with_count(n, [&](auto count) { quantised<count>(m, in, begin, end, y); });
}

}  // namespace

const Kernels kAvx512Vnni{"avx512-vnni", gemv<quantised_n>, quantise, rms_norm, silu_mul,
                          attend,        to_bf16,           unpack};

}  // namespace remora::nn::cpu
