// For processors with a tile unit for bfloat16 (AMX). Only entered after tile_kernels() has asked.
#include <immintrin.h>

#include <cstring>

#include "nn/cpu/kernel_sets.h"

namespace remora::nn::cpu {
namespace {

constexpr int64_t kRowsOfTile = 16;
constexpr int64_t kTileNumbers = kTileOutputs * kTileColumns;
constexpr int64_t kTileBytes = 64;  // of a tile's row
// Outputs and rows that are worked on together: four tiles of sums.
constexpr int64_t kPair = 2 * kTileOutputs;

// The compiler's tile instructions do not tell it that they read and write memory.
void memory_barrier() { asm volatile("" ::: "memory"); }

// Tiles 0 to 3: sums (rows, outputs) 00 01 10 11; 4, 5: rows of x; 6, 7: outputs of the matrix.
struct alignas(64) Palette {
  uint8_t id = 1;
  uint8_t start_row = 0;
  uint8_t reserved[14] = {};
  uint16_t bytes[16] = {};
  uint8_t rows[16] = {};

  Palette(int64_t first, int64_t second) {
    for (int tile = 0; tile < 8; ++tile) bytes[tile] = kTileBytes;
    const auto top = static_cast<uint8_t>(first), below = static_cast<uint8_t>(second);
    const uint8_t of_tile[8] = {top, top, below, below, top, below, 16, 16};
    std::memcpy(rows, of_tile, sizeof of_tile);
  }
};

// The host's tiles, as far as they are configured, outlive a call: another library may look at what
// it had loaded before it loads anew.
class KeptPalette {
 public:
  KeptPalette() { _tile_storeconfig(bytes_); }
  ~KeptPalette() {
    memory_barrier();
    if (bytes_[0] != 0) {
      _tile_loadconfig(bytes_);
    } else {
      _tile_release();
    }
  }
  KeptPalette(const KeptPalette&) = delete;
  KeptPalette& operator=(const KeptPalette&) = delete;

 private:
  alignas(64) uint8_t bytes_[64] = {};
};

using Sums = float[2 * kRowsOfTile][kPair];

// The sums of 32 rows (16 unless kBelow) and 32 outputs (16 unless kBeside).
template <bool kBelow, bool kBeside>
void sum_tiles(const TileProduct& p, const uint16_t* x, const uint16_t* tiles, Sums& sums) {
  const int64_t stride = p.columns * 2;
  const uint16_t* beside = tiles + p.taps * p.columns * kTileOutputs;
  _tile_zero(0);
  if constexpr (kBeside) _tile_zero(1);
  if constexpr (kBelow) _tile_zero(2);
  if constexpr (kBelow && kBeside) _tile_zero(3);
  for (int64_t tap = 0; tap < p.taps; ++tap) {
    const uint16_t* row = x + tap * p.tap_rows * p.columns;
    for (int64_t k = 0; k < p.columns; k += kTileColumns) {
      _tile_loadd(4, row + k, stride);
      _tile_loadd(6, tiles, kTileBytes);
      _tile_dpbf16ps(0, 4, 6);
      if constexpr (kBelow) {
        _tile_loadd(5, row + kRowsOfTile * p.columns + k, stride);
        _tile_dpbf16ps(2, 5, 6);
      }
      if constexpr (kBeside) {
        _tile_loadd(7, beside, kTileBytes);
        _tile_dpbf16ps(1, 4, 7);
        if constexpr (kBelow) _tile_dpbf16ps(3, 5, 7);
      }
      tiles += kTileNumbers;
      beside += kTileNumbers;
    }
  }
  _tile_stored(0, &sums[0][0], sizeof sums[0]);
  if constexpr (kBeside) _tile_stored(1, &sums[0][kTileOutputs], sizeof sums[0]);
  if constexpr (kBelow) _tile_stored(2, &sums[kRowsOfTile][0], sizeof sums[0]);
  if constexpr (kBelow && kBeside) {
    _tile_stored(3, &sums[kRowsOfTile][kTileOutputs], sizeof sums[0]);
  }
  memory_barrier();
}

// 16 outputs of `rows` rows to where they belong.
template <TileProduct::Result kResult>
void deliver(const TileProduct& p, const Sums& sums, int64_t column, int64_t rows, int64_t row,
             int64_t output) {
  const __m512 scale =
      p.scale != nullptr ? _mm512_loadu_ps(p.scale + output) : _mm512_set1_ps(1.0F);
  const __m512 bias = p.bias != nullptr ? _mm512_loadu_ps(p.bias + output) : _mm512_setzero_ps();
  for (int64_t r = 0; r < rows; ++r) {
    __m512 value = _mm512_fmadd_ps(_mm512_loadu_ps(&sums[r][column]), scale, bias);
    const int64_t at = (row + r) * p.y_stride + output;
    if constexpr (kResult == TileProduct::Result::kBf16) {
      const __m256bh rounded = _mm512_cvtneps_pbh(value);
      std::memcpy(static_cast<uint16_t*>(p.y) + at, &rounded, sizeof rounded);
    } else {
      float* y = static_cast<float*>(p.y) + at;
      if constexpr (kResult == TileProduct::Result::kAddedToF32) {
        value = _mm512_add_ps(value, _mm512_loadu_ps(y));
      }
      _mm512_storeu_ps(y, value);
    }
  }
}

void deliver(const TileProduct& p, const Sums& sums, int64_t column, int64_t rows, int64_t row,
             int64_t output) {
  switch (p.result) {
    case TileProduct::Result::kF32:
      return deliver<TileProduct::Result::kF32>(p, sums, column, rows, row, output);
    case TileProduct::Result::kAddedToF32:
      return deliver<TileProduct::Result::kAddedToF32>(p, sums, column, rows, row, output);
    case TileProduct::Result::kBf16:
      return deliver<TileProduct::Result::kBf16>(p, sums, column, rows, row, output);
  }
}

// Rows begin .. end - 1 in steps of 32 or less, all of one size, by the palette loaded.
template <bool kBelow, bool kBeside>
void multiply_rows(const TileProduct& p, int64_t begin, int64_t end, int64_t step, int64_t output) {
  const uint16_t* tiles = p.tiles + output * p.taps * p.columns;
  alignas(64) Sums sums;
  for (int64_t row = begin; row < end; row += step) {
    sum_tiles<kBelow, kBeside>(p, p.x + row * p.columns, tiles, sums);
    deliver(p, sums, 0, step, row, output);
    if constexpr (kBeside) deliver(p, sums, kTileOutputs, step, row, output + kTileOutputs);
  }
}

template <bool kBeside>
void multiply_outputs(const TileProduct& p, int64_t output) {
  constexpr int64_t kStep = 2 * kRowsOfTile;
  const int64_t whole = p.rows / kStep * kStep, rest = p.rows - whole;
  if (whole > 0) {
    const Palette palette(kRowsOfTile, kRowsOfTile);
    _tile_loadconfig(&palette);
    multiply_rows<true, kBeside>(p, 0, whole, kStep, output);
  }
  if (rest > kRowsOfTile) {
    const Palette palette(kRowsOfTile, rest - kRowsOfTile);
    _tile_loadconfig(&palette);
    multiply_rows<true, kBeside>(p, whole, p.rows, rest, output);
  } else if (rest > 0) {
    const Palette palette(rest, rest);
    _tile_loadconfig(&palette);
    multiply_rows<false, kBeside>(p, whole, p.rows, rest, output);
  }
}

void multiply(const TileProduct& product, int64_t begin, int64_t end) {
  const KeptPalette kept;
  memory_barrier();
  int64_t output = begin;
  for (; output + kPair <= end; output += kPair) multiply_outputs<true>(product, output);
  if (output < end) multiply_outputs<false>(product, output);
}

// Byte `at` of each 32 bits as a float, with its sign.
template <int kAt>
__m512 signed_byte(__m512i words) {
  const __m512i high = kAt == 3 ? words : _mm512_slli_epi32(words, 24 - 8 * kAt);
  return _mm512_cvtepi32_ps(_mm512_srai_epi32(high, 24));
}

// The upper halves of two columns side by side: bfloat16 where the lower halves are zero.
__m512i pair_of(__m512 first, __m512 second) {
  return _mm512_mask_blend_epi16(0xAAAAAAAAU, _mm512_srli_epi32(_mm512_castps_si512(first), 16),
                                 _mm512_castps_si512(second));
}

void unpack_int8(const MatrixView& m, int64_t block, uint16_t* tiles) {
  const int64_t cols = m.padded_cols();
  const uint8_t* in = static_cast<const uint8_t*>(m.data) + block * kBlockRows * cols;
  const __m512i offset = _mm512_set1_epi8(static_cast<char>(0x80));
  for (int64_t k = 0; k < cols; k += 4, in += 64, tiles += 64) {
    // Flipping the top bit turns value + 128 into the value. Whole numbers of 8 bits are exact.
    const __m512i w = _mm512_xor_si512(_mm512_loadu_si512(in), offset);
    _mm512_storeu_si512(tiles, pair_of(signed_byte<0>(w), signed_byte<1>(w)));
    _mm512_storeu_si512(tiles + 32, pair_of(signed_byte<2>(w), signed_byte<3>(w)));
  }
}

// Columns of 4 bits, those that begin at bit kFirst and 8 bits on, scaled and rounded.
template <int kFirst>
__m512i scaled_pair(__m512i w, __m512 values, __m512 scale) {
  // Of each index only the lowest four bits count.
  const __m512 first = _mm512_permutexvar_ps(_mm512_srli_epi32(w, kFirst), values);
  const __m512 second = _mm512_permutexvar_ps(_mm512_srli_epi32(w, kFirst + 8), values);
  const auto rounded = [&](__m512 value) {
    const __m256bh half = _mm512_cvtneps_pbh(_mm512_mul_ps(value, scale));
    __m256i bits;
    std::memcpy(&bits, &half, sizeof bits);
    return _mm512_cvtepu16_epi32(bits);
  };
  return _mm512_or_si512(rounded(first), _mm512_slli_epi32(rounded(second), 16));
}

void unpack_int4(const MatrixView& m, int64_t block, uint16_t* tiles) {
  const int64_t cols = m.padded_cols();
  const uint8_t* in = static_cast<const uint8_t*>(m.data) + block * kBlockRows * cols / 2;
  const uint16_t* scales =
      static_cast<const uint16_t*>(m.scales) + block * (cols / m.group) * kBlockRows;
  const __m512 values = _mm512_setr_ps(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7);
  for (int64_t k = 0; k < cols; k += m.group, scales += kBlockRows) {
    const __m512 scale =
        _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(scales)));
    for (int64_t j = 0; j < m.group; j += 8, in += 64, tiles += 128) {
      const __m512i w = _mm512_loadu_si512(in);
      _mm512_storeu_si512(tiles, scaled_pair<0>(w, values, scale));
      _mm512_storeu_si512(tiles + 32, scaled_pair<16>(w, values, scale));
      _mm512_storeu_si512(tiles + 64, scaled_pair<4>(w, values, scale));
      _mm512_storeu_si512(tiles + 96, scaled_pair<20>(w, values, scale));
    }
  }
}

void unpack(const MatrixView& view, int64_t block, uint16_t* tiles) {
  view.kind == MatrixKind::kInt8 ? unpack_int8(view, block, tiles)
                                 : unpack_int4(view, block, tiles);
}

}  // namespace

const TileKernels kAmxTiles{multiply, unpack};

}  // namespace remora::nn::cpu
