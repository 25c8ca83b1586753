// Products with bfloat16 matrices on processors with a tile unit (AMX), which multiplies 16 rows
// by 16 outputs over 32 columns in one instruction.
#pragma once

#include <cstdint>

#include "nn/cpu/kernels.h"

namespace remora::nn::cpu {

// A matrix [out, in] stands in tiles of 1 KiB, [16 pairs of columns][16 outputs][2]: all tiles of
// the first 16 outputs, then those of the next. Both extents are multiples of these.
inline constexpr int64_t kTileOutputs = 16;
inline constexpr int64_t kTileColumns = 32;

// y[row] = sum over taps of W_tap x[row + tap * tap_rows], and then scale and bias.
struct TileProduct {
  enum class Result : int32_t { kF32, kAddedToF32, kBf16 };

  const uint16_t* x = nullptr;  // bfloat16, [rows + (taps - 1) * tap_rows, columns], contiguous
  int64_t rows = 0;
  int64_t columns = 0;  // of x; the matrix has taps * columns, those of the first tap in front
  int64_t taps = 1;
  int64_t tap_rows = 0;
  const uint16_t* tiles = nullptr;  // of the whole matrix
  const float* scale = nullptr;     // [outputs] or null
  const float* bias = nullptr;      // [outputs] or null
  Result result = Result::kF32;
  void* y = nullptr;     // [rows, y_stride]
  int64_t y_stride = 0;  // numbers from one row to the next
};

struct TileKernels {
  // Outputs begin .. end - 1, multiples of kTileOutputs. The sums of a row have the same order
  // whatever other rows there are.
  void (*multiply)(const TileProduct& product, int64_t begin, int64_t end);
  // A block of 16 rows of a quantised matrix in tiles, the padded columns included: `tiles` has
  // kBlockRows * padded_cols numbers. kInt8: the whole numbers, exact, to be scaled behind the
  // product; kInt4: scaled and rounded.
  void (*unpack)(const MatrixView& view, int64_t block, uint16_t* tiles);
};

// Null where the processor or the system has no tile unit. Asked once: the system gives its use to
// the whole process.
const TileKernels* tile_kernels();

}  // namespace remora::nn::cpu
