// A matrix for the kernels of the CPU, with the numbers it really holds, and their exact products.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "nn/cpu/kernels.h"
#include "nn/cpu/pack.h"
#include "nn/cpu/quantised_buffer.h"

namespace remora::nn::cpu {

inline std::vector<float> random_floats(size_t n, uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<float> out(n);
  for (float& x : out) x = static_cast<float>(engine()) / 2147483648.0F - 1;
  return out;
}

// A matrix of any kind; `exact` becomes what it holds after rounding.
struct Matrix {
  Matrix(MatrixKind kind, int64_t rows, int64_t cols, int64_t group)
      : Matrix(kind, rows, cols, group, random_floats(static_cast<size_t>(rows * cols), 1)) {}

  Matrix(MatrixKind kind, int64_t rows, int64_t cols, int64_t group, std::vector<float> numbers) {
    view = {kind, rows, cols, group, nullptr, nullptr, nullptr};
    exact = std::move(numbers);
    bias = random_floats(static_cast<size_t>(rows), 2);
    view.bias = bias.data();
    if (view.quantised()) {
      pack();
      return;
    }
    if (kind == MatrixKind::kF32) {
      view.data = exact.data();
      return;
    }
    for (float& x : exact) {
      bf16.push_back(static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16));
      x = std::bit_cast<float>(uint32_t{bf16.back()} << 16);
    }
    view.data = bf16.data();
  }

  void pack() {
    data.resize(packed_bytes(view));
    scales.resize(scale_bytes(view));
    view.data = data.data();
    view.scales = scales.data();
    std::vector<float> rows(static_cast<size_t>(kBlockRows * view.cols));
    for (int64_t block = 0; block < view.padded_rows() / kBlockRows; ++block) {
      std::fill(rows.begin(), rows.end(), 0.0F);
      const int64_t first = block * kBlockRows * view.cols;
      const int64_t count =
          std::min(kBlockRows * view.cols, static_cast<int64_t>(exact.size()) - first);
      std::copy_n(exact.begin() + first, count, rows.begin());
      pack_block(view, rows.data(), block, data.data(), scales.data());
      unpack_block(view, block, rows.data());
      std::copy_n(rows.begin(), count, exact.begin() + first);
    }
  }

  MatrixView view;
  std::vector<float> exact, bias;
  std::vector<uint16_t> bf16;
  std::vector<uint8_t> data, scales;
};

// Expects the products of the matrix with 1 to kMaxVectors of `x`, computed in two calls as two
// threads would, to be within `tolerance` times the sum of the products' sizes.
inline void expect_products(const Kernels& kernels, const Matrix& matrix,
                            const std::vector<std::vector<float>>& x, double tolerance) {
  const MatrixView& m = matrix.view;
  std::vector<QuantisedBuffer> buffers(x.size(), QuantisedBuffer(m.padded_cols()));
  std::vector<std::vector<float>> y(x.size(),
                                    std::vector<float>(static_cast<size_t>(m.padded_rows()), 1e9F));
  std::vector<Input> inputs;
  std::vector<float*> outputs;
  for (size_t v = 0; v < x.size(); ++v) {
    kernels.quantise(x[v].data(), m.cols, m.padded_cols(), buffers[v].view());
    inputs.push_back({x[v].data(), buffers[v].view()});
    outputs.push_back(y[v].data());
  }
  const int64_t half = m.padded_rows() / 2 / kBlockRows * kBlockRows;
  const int64_t end = m.quantised() ? m.padded_rows() : m.rows;
  for (size_t n = 1; n <= x.size(); ++n) {
    kernels.gemv(m, inputs.data(), static_cast<int>(n), 0, half, outputs.data());
    kernels.gemv(m, inputs.data(), static_cast<int>(n), half, end, outputs.data());
    for (size_t v = 0; v < n; ++v) {
      double worst = 0, size = 0;
      for (size_t r = 0; r < static_cast<size_t>(m.rows); ++r) {
        double sum = matrix.bias[r], magnitude = 0;
        for (size_t k = 0; k < x[v].size(); ++k) {
          const double product = double{matrix.exact[r * x[v].size() + k]} * double{x[v][k]};
          sum += product;
          magnitude += std::fabs(product);
        }
        worst = std::max(worst, std::fabs(sum - double{y[v][r]}));
        size = std::max(size, magnitude);
        y[v][r] = 1e9F;
      }
      EXPECT_LE(worst, tolerance * size + 1e-6)
          << kernels.name << " kind " << static_cast<int>(m.kind) << " " << m.rows << "x" << m.cols
          << " group " << m.group << " vectors " << n;
    }
  }
}

}  // namespace remora::nn::cpu
