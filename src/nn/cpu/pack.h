// Quantised matrices: made from rows of float32, and read back for whole-matrix products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "nn/cpu/kernels.h"

namespace remora::nn::cpu {

// Bytes of the packed weights and of the scales of a matrix (rows, cols, kind and group set).
size_t packed_bytes(const MatrixView& shape);
size_t scale_bytes(const MatrixView& shape);

// The same buffers as arrays of numbers, the first extent counting blocks: saved files describe
// them so. Weights are bytes, scales float32 (kInt8) or float16 (kInt4).
std::vector<int64_t> packed_shape(const MatrixView& shape);
std::vector<int64_t> scale_shape(const MatrixView& shape);

// Packs one block: `rows` holds kBlockRows rows of shape.cols floats, one after the other (zeros
// behind the matrix's last row). `data` and `scales` are the matrix's whole buffers; rows are
// rounded to the nearest value of
//   kInt8  max|row| / 127 * (-127 .. 127)
//   kInt4  -(the group's number of largest size) / 8 * (-8 .. 7), the scale kept as float16
void pack_block(const MatrixView& shape, const float* rows, int64_t block, uint8_t* data,
                void* scales);

// The block's rows as they multiply: kBlockRows rows of view.cols floats.
void unpack_block(const MatrixView& view, int64_t block, float* rows);

}  // namespace remora::nn::cpu
