// Matrix-vector kernels of this processor: the inner loops of a decode step.
#pragma once

#include <cstdint>
#include <span>

namespace remora::nn::cpu {

// Quantised matrices are stored in blocks of 16 rows, whose elements alternate so that one vector
// register holds a few columns of all 16.
inline constexpr int64_t kBlockRows = 16;
// Activations are quantised in groups of this many columns with a scale each; the columns of
// quantised matrices are padded to a multiple of it.
inline constexpr int64_t kGroup = 64;

// Activations in 16 bits: value = scale[column / kGroup] * wide[column], and
// wide = 256 * high + low with both planes in 8 bits, for instructions that multiply bytes.
struct Quantised {
  int16_t* wide = nullptr;  // [cols]
  int8_t* high = nullptr;   // [cols]
  int8_t* low = nullptr;    // [cols]
  float* scale = nullptr;   // [cols / kGroup]
  // Sums of the planes over every 32 columns: weights are stored with an offset, whose part is
  // taken off by these.
  int32_t* high_sum = nullptr;  // [cols / 32]
  int32_t* low_sum = nullptr;   // [cols / 32]
};

enum class MatrixKind : int32_t {
  kF32,
  kBf16,
  // 8 bits, one float32 scale a row. Block: [cols / 4][16 rows][4 columns], values + 128.
  kInt8,
  // 4 bits, one float16 scale for `group` columns of a row. Block: [cols / 8][16 rows][4 bytes],
  // columns 0..3 of eight in the low halves, 4..7 in the high ones, values + 8; scales
  // [cols / group][16 rows].
  kInt4,
};

struct MatrixView {
  MatrixKind kind = MatrixKind::kF32;
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t group = 0;             // kInt4: 32 or 64
  const void* data = nullptr;    // kF32, kBf16: row-major [rows, cols]
  const void* scales = nullptr;  // kInt8: float [padded rows]; kInt4: float16 bits
  const float* bias = nullptr;   // [rows] or null

  bool quantised() const { return kind == MatrixKind::kInt8 || kind == MatrixKind::kInt4; }
  int64_t padded_rows() const { return (rows + kBlockRows - 1) / kBlockRows * kBlockRows; }
  int64_t padded_cols() const { return (cols + kGroup - 1) / kGroup * kGroup; }
};

// One input vector in the forms the kinds read: `floats` always, `quantised` for quantised kinds.
struct Input {
  const float* floats = nullptr;  // [cols]
  Quantised quantised;            // [padded cols]
};

// Up to this many vectors go through one read of a matrix.
inline constexpr int kMaxVectors = 4;

// Loops over heads of a cache: keys and values as [positions, head_dim] in float32 or bf16.
struct HeadRows {
  const void* keys = nullptr;
  const void* values = nullptr;
  bool bf16 = false;
};

struct Kernels {
  const char* name;
  // y[v][row] = matrix row . input v (+ bias), for rows begin .. end - 1 of `view` and n vectors
  // (1 .. kMaxVectors). begin is a multiple of kBlockRows, end too or the number of rows; each
  // y[v] has room for the padded rows.
  void (*gemv)(const MatrixView& view, const Input* inputs, int n, int64_t begin, int64_t end,
               float* const* y);
  // cols values -> 16 bits; columns up to `padded` become 0.
  void (*quantise)(const float* x, int64_t cols, int64_t padded, const Quantised& out);
  // out = x / sqrt(mean(x^2) + eps) * weight
  void (*rms_norm)(const float* x, const float* weight, int64_t n, float eps, float* out);
  // gate[i] = silu(gate[i]) * up[i]
  void (*silu_mul)(float* gate, const float* up, int64_t n);
  // One group of query heads over one key head: out[g] = softmax(scale * q[g] . keys) . values.
  // q, out: [groups, head_dim]; scores: scratch of groups * positions.
  void (*attend)(const float* q, const HeadRows& rows, int64_t groups, int64_t positions,
                 int64_t head_dim, float scale, float* scores, float* out);
  // Rounds to nearest even.
  void (*to_bf16)(const float* x, int64_t n, uint16_t* out);
  // One block of a quantised matrix as it multiplies: kBlockRows rows of view.cols bfloat16
  // numbers.
  void (*unpack)(const MatrixView& view, int64_t block, uint16_t* rows);
};

// The fastest set this processor runs. Decided once.
const Kernels& best_kernels();
// Every set it runs, the portable one first: for tests and measurements.
std::span<const Kernels* const> all_kernels();

}  // namespace remora::nn::cpu
