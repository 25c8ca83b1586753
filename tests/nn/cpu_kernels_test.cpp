// Every kernel set that this machine runs, against double precision.
#include "nn/cpu/kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "nn/cpu/pack.h"
#include "nn/cpu/quantised_buffer.h"

namespace remora::nn::cpu {
namespace {

std::vector<float> random_floats(size_t n, uint32_t seed) {
  std::mt19937 engine(seed);
  std::vector<float> out(n);
  for (float& x : out) x = static_cast<float>(engine()) / 2147483648.0F - 1;
  return out;
}

// A matrix of any kind and the numbers it really holds.
struct Matrix {
  Matrix(MatrixKind kind, int64_t rows, int64_t cols, int64_t group) {
    view = {kind, rows, cols, group, nullptr, nullptr, nullptr};
    exact = random_floats(static_cast<size_t>(rows * cols), 1);
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

const Kernels& kPlain = *all_kernels().front();

struct Case {
  MatrixKind kind;
  int64_t rows, cols, group;
};

const Case kCases[] = {{MatrixKind::kF32, 33, 70, 0},   {MatrixKind::kF32, 64, 1024, 0},
                       {MatrixKind::kBf16, 33, 70, 0},  {MatrixKind::kBf16, 64, 1024, 0},
                       {MatrixKind::kInt8, 33, 70, 0},  {MatrixKind::kInt8, 128, 1024, 0},
                       {MatrixKind::kInt4, 33, 70, 32}, {MatrixKind::kInt4, 128, 1024, 32},
                       {MatrixKind::kInt4, 33, 70, 64}, {MatrixKind::kInt4, 128, 1024, 64},
                       {MatrixKind::kInt8, 16, 1, 0},   {MatrixKind::kInt4, 1, 64, 64}};

TEST(CpuKernels, ProductsOfAllKindsMatchDoublePrecisionForOneToFourVectors) {
  for (const Kernels* kernels : all_kernels()) {
    for (const Case& c : kCases) {
      const Matrix matrix(c.kind, c.rows, c.cols, c.group);
      std::vector<std::vector<float>> x, y;
      std::vector<QuantisedBuffer> buffers;
      std::vector<Input> inputs;
      std::vector<float*> outputs;
      for (uint32_t v = 0; v < kMaxVectors; ++v) {
        x.push_back(random_floats(static_cast<size_t>(c.cols), 10 + v));
        y.emplace_back(static_cast<size_t>(matrix.view.padded_rows()), 1e9F);
        buffers.emplace_back(matrix.view.padded_cols());
      }
      for (size_t v = 0; v < kMaxVectors; ++v) {
        kernels->quantise(x[v].data(), c.cols, matrix.view.padded_cols(), buffers[v].view());
        inputs.push_back({x[v].data(), buffers[v].view()});
        outputs.push_back(y[v].data());
      }
      for (int n = 1; n <= kMaxVectors; ++n) {
        const int64_t half = matrix.view.padded_rows() / 2 / kBlockRows * kBlockRows;
        const int64_t end = matrix.view.quantised() ? matrix.view.padded_rows() : matrix.view.rows;
        kernels->gemv(matrix.view, inputs.data(), n, 0, half, outputs.data());
        kernels->gemv(matrix.view, inputs.data(), n, half, end, outputs.data());
        for (int v = 0; v < n; ++v) {
          double worst = 0, size = 0;
          for (int64_t r = 0; r < c.rows; ++r) {
            double sum = matrix.bias[static_cast<size_t>(r)], magnitude = 0;
            for (int64_t k = 0; k < c.cols; ++k) {
              const double product = double{matrix.exact[static_cast<size_t>(r * c.cols + k)]} *
                                     double{x[static_cast<size_t>(v)][static_cast<size_t>(k)]};
              sum += product;
              magnitude += std::fabs(product);
            }
            worst = std::max(
                worst, std::fabs(sum - double{y[static_cast<size_t>(v)][static_cast<size_t>(r)]}));
            size = std::max(size, magnitude);
          }
          // 16-bit activations carry 1.6e-5 of a group's largest number each; float32 sums less.
          EXPECT_LE(worst, 2e-5 * size + 1e-6)
              << kernels->name << " kind " << static_cast<int>(c.kind) << " " << c.rows << "x"
              << c.cols << " group " << c.group << " vectors " << n;
        }
      }
    }
  }
}

TEST(CpuKernels, PackedWeightsAreWithinHalfAStep) {
  for (const Case& c : kCases) {
    if (c.kind != MatrixKind::kInt8 && c.kind != MatrixKind::kInt4) continue;
    const std::vector<float> original = random_floats(static_cast<size_t>(c.rows * c.cols), 1);
    const Matrix matrix(c.kind, c.rows, c.cols, c.group);
    // Half a step of numbers up to 1; int4's largest positive number can lack a whole step.
    const double bound = c.kind == MatrixKind::kInt8 ? 0.5 / 127 + 1e-6 : 1.0 / 8 + 1e-3;
    for (size_t i = 0; i < original.size(); ++i) {
      ASSERT_NEAR(matrix.exact[i], original[i], bound) << i;
    }
  }
}

TEST(CpuKernels, UnpackedWeightsAreTheRoundedOnesThatMultiply) {
  for (const Kernels* kernels : all_kernels()) {
    for (const Case& c : kCases) {
      const Matrix matrix(c.kind, c.rows, c.cols, c.group);
      if (!matrix.view.quantised()) continue;
      std::vector<uint16_t> expected(matrix.exact.size());
      kPlain.to_bf16(matrix.exact.data(), static_cast<int64_t>(expected.size()), expected.data());
      std::vector<uint16_t> rows(static_cast<size_t>(matrix.view.padded_rows() * c.cols), 1);
      for (int64_t block = 0; block < matrix.view.padded_rows() / kBlockRows; ++block) {
        kernels->unpack(matrix.view, block, rows.data() + block * kBlockRows * c.cols);
      }
      rows.resize(expected.size());
      EXPECT_EQ(rows, expected) << kernels->name << " kind " << static_cast<int>(c.kind) << " "
                                << c.rows << "x" << c.cols << " group " << c.group;
    }
  }
}

TEST(CpuKernels, QuantisedVectorsSplitExactlyIntoPlanes) {
  for (const Kernels* kernels : all_kernels()) {
    const std::vector<float> x = random_floats(100, 3);
    QuantisedBuffer buffer(100);
    const Quantised q = buffer.view();
    kernels->quantise(x.data(), 100, 128, q);
    for (int64_t i = 0; i < 128; ++i) {
      EXPECT_EQ(q.wide[i], 256 * q.high[i] + q.low[i]) << kernels->name << " " << i;
      const float value = q.scale[i / kGroup] * static_cast<float>(q.wide[i]);
      const float original = i < 100 ? x[static_cast<size_t>(i)] : 0;
      EXPECT_NEAR(value, original, 1.6e-5) << kernels->name << " " << i;
    }
    for (int64_t part = 0; part < 4; ++part) {
      int32_t high = 0, low = 0;
      for (int64_t i = part * 32; i < part * 32 + 32; ++i) {
        high += q.high[i];
        low += q.low[i];
      }
      EXPECT_EQ(q.high_sum[part], high);
      EXPECT_EQ(q.low_sum[part], low);
    }
  }
}

TEST(CpuKernels, AnAllZeroVectorStaysZero) {
  for (const Kernels* kernels : all_kernels()) {
    const std::vector<float> x(64, 0.0F);
    QuantisedBuffer buffer(64);
    const Quantised q = buffer.view();
    kernels->quantise(x.data(), 64, 64, q);
    EXPECT_EQ(q.scale[0], 0.0F);
    for (int64_t i = 0; i < 64; ++i) EXPECT_EQ(q.wide[i], 0);
  }
}

// Two NaNs, one of which rounding would carry over, and the infinities.
const float kOdd[] = {std::numeric_limits<float>::quiet_NaN(), std::bit_cast<float>(0x7fffffffU),
                      std::numeric_limits<float>::infinity(),
                      -std::numeric_limits<float>::infinity()};

TEST(CpuKernels, AProductWithANumberThatIsNoneIsNoneWhateverTheKind) {
  for (const Kernels* kernels : all_kernels()) {
    for (const Case& c : kCases) {
      const Matrix matrix(c.kind, c.rows, c.cols, c.group);
      for (const float odd : kOdd) {
        std::vector<float> x = random_floats(static_cast<size_t>(c.cols), 10);
        x[x.size() / 2] = odd;
        QuantisedBuffer buffer(matrix.view.padded_cols());
        kernels->quantise(x.data(), c.cols, matrix.view.padded_cols(), buffer.view());
        const Input input{x.data(), buffer.view()};
        std::vector<float> y(static_cast<size_t>(matrix.view.padded_rows()));
        float* out = y.data();
        const int64_t end = matrix.view.quantised() ? matrix.view.padded_rows() : matrix.view.rows;
        kernels->gemv(matrix.view, &input, 1, 0, end, &out);
        for (int64_t r = 0; r < c.rows; ++r) {
          EXPECT_FALSE(std::isfinite(y[static_cast<size_t>(r)]))
              << kernels->name << " kind " << static_cast<int>(c.kind) << " row " << r;
        }
      }
    }
  }
}

TEST(CpuKernels, ASubnormalVectorIsNearlyNothing) {
  for (const Kernels* kernels : all_kernels()) {
    std::vector<float> x(kGroup, 0.0F);
    x[3] = 1e-42F;
    QuantisedBuffer buffer(kGroup);
    const Quantised q = buffer.view();
    kernels->quantise(x.data(), kGroup, kGroup, q);
    for (int64_t i = 0; i < kGroup; ++i) {
      EXPECT_LE(std::fabs(q.scale[0] * static_cast<float>(q.wide[i])), 2e-42F) << kernels->name;
    }
  }
}

TEST(CpuKernels, AWeightThatIsNoNumberMakesItsRowNone) {
  for (const Case& c : kCases) {
    if (c.kind != MatrixKind::kInt8 && c.kind != MatrixKind::kInt4) continue;
    for (const float odd : kOdd) {
      Matrix matrix(c.kind, c.rows, c.cols, c.group);
      matrix.exact = random_floats(static_cast<size_t>(c.rows * c.cols), 1);
      matrix.exact.front() = odd;
      matrix.pack();
      EXPECT_FALSE(std::isfinite(matrix.exact.front()));
      EXPECT_TRUE(std::isfinite(matrix.exact.back()) || matrix.exact.size() <= 64);
      for (const Kernels* kernels : all_kernels()) {
        const std::vector<float> x = random_floats(static_cast<size_t>(c.cols), 3);
        QuantisedBuffer buffer(matrix.view.padded_cols());
        kernels->quantise(x.data(), c.cols, matrix.view.padded_cols(), buffer.view());
        const Input input{x.data(), buffer.view()};
        std::vector<float> y(static_cast<size_t>(matrix.view.padded_rows()));
        float* out = y.data();
        kernels->gemv(matrix.view, &input, 1, 0, matrix.view.padded_rows(), &out);
        EXPECT_TRUE(std::isnan(y[0])) << kernels->name;
      }
    }
  }
}

TEST(CpuKernels, AttentionOverAPositionThatIsNoNumberIsNone) {
  constexpr int64_t kGroups = 4, kDim = 48, kPositions = 20;
  for (const Kernels* kernels : all_kernels()) {
    for (const float odd : kOdd) {
      for (const size_t at : {0, 9, 19}) {
        const std::vector<float> q(kGroups * kDim, 0.5F);
        std::vector<float> k = random_floats(kPositions * kDim, 7);
        const std::vector<float> v = random_floats(kPositions * kDim, 8);
        // With its opposite beside it even an infinity makes no order of scores.
        k[at * kDim] = odd;
        k[at * kDim + 1] = -odd;
        std::vector<float> scores(kGroups * kPositions), out(q.size());
        kernels->attend(q.data(), {k.data(), v.data(), false}, kGroups, kPositions, kDim, 0.7F,
                        scores.data(), out.data());
        for (const float value : out) ASSERT_TRUE(std::isnan(value)) << kernels->name << " " << at;
      }
    }
  }
}

TEST(CpuKernels, SiluAndBf16KeepWhatIsNoNumber) {
  for (const Kernels* kernels : all_kernels()) {
    for (const float odd : kOdd) {
      std::vector<float> gate(33, odd), up(33, 2.0F);
      kernels->silu_mul(gate.data(), up.data(), 33);
      std::vector<uint16_t> rounded(33);
      const std::vector<float> plain(33, odd);
      kernels->to_bf16(plain.data(), 33, rounded.data());
      for (size_t i = 0; i < 33; ++i) {
        const float back = std::bit_cast<float>(uint32_t{rounded[i]} << 16);
        EXPECT_TRUE(std::isnan(odd) ? std::isnan(back) : back == odd) << kernels->name;
        if (std::isnan(odd)) {
          EXPECT_TRUE(std::isnan(gate[i])) << kernels->name;
        }
      }
    }
  }
}

TEST(CpuKernels, NormMatchesDoublePrecision) {
  for (const Kernels* kernels : all_kernels()) {
    for (const size_t n : {1, 17, 64, 1000}) {
      const std::vector<float> x = random_floats(n, 4), w = random_floats(n, 5);
      std::vector<float> out(n);
      kernels->rms_norm(x.data(), w.data(), static_cast<int64_t>(n), 1e-6F, out.data());
      double sum = 0;
      for (const float v : x) sum += double{v} * double{v};
      const double factor = 1 / std::sqrt(sum / static_cast<double>(n) + 1e-6);
      for (size_t i = 0; i < n; ++i) {
        EXPECT_NEAR(out[i], double{x[i]} * factor * double{w[i]}, 2e-6)
            << kernels->name << " " << n;
      }
    }
  }
}

TEST(CpuKernels, SiluMatchesDoublePrecisionOverTheWholeRange) {
  for (const Kernels* kernels : all_kernels()) {
    std::vector<float> gate, up;
    for (float g = -120; g <= 120; g += 0.37F) {
      gate.push_back(g);
      up.push_back(1.5F);
    }
    const std::vector<float> before = gate;
    kernels->silu_mul(gate.data(), up.data(), static_cast<int64_t>(gate.size()));
    for (size_t i = 0; i < gate.size(); ++i) {
      const double g = before[i];
      const double expected = g / (1 + std::exp(-g)) * 1.5;
      EXPECT_NEAR(gate[i], expected, 1e-6 * std::fabs(expected) + 1e-6)
          << kernels->name << " " << g;
    }
  }
}

TEST(CpuKernels, AttentionMatchesDoublePrecision) {
  for (const Kernels* kernels : all_kernels()) {
    for (const bool bf16 : {false, true}) {
      for (const int64_t positions : {1, 7, 300}) {
        constexpr int64_t kGroups = 4, kDim = 48;
        const std::vector<float> q = random_floats(kGroups * kDim, 6);
        std::vector<float> k = random_floats(static_cast<size_t>(positions * kDim), 7);
        std::vector<float> v = random_floats(static_cast<size_t>(positions * kDim), 8);
        std::vector<uint16_t> k16(k.size()), v16(v.size());
        if (bf16) {
          kernels->to_bf16(k.data(), static_cast<int64_t>(k.size()), k16.data());
          kernels->to_bf16(v.data(), static_cast<int64_t>(v.size()), v16.data());
          for (size_t i = 0; i < k.size(); ++i) {
            k[i] = std::bit_cast<float>(uint32_t{k16[i]} << 16);
            v[i] = std::bit_cast<float>(uint32_t{v16[i]} << 16);
          }
        }
        const HeadRows rows =
            bf16 ? HeadRows{k16.data(), v16.data(), true} : HeadRows{k.data(), v.data(), false};
        std::vector<float> scores(static_cast<size_t>(kGroups * positions)), out(q.size());
        kernels->attend(q.data(), rows, kGroups, positions, kDim, 0.7F, scores.data(), out.data());
        for (int64_t g = 0; g < kGroups; ++g) {
          std::vector<double> weights;
          double total = 0;
          for (int64_t p = 0; p < positions; ++p) {
            double dot = 0;
            for (int64_t i = 0; i < kDim; ++i) {
              dot += double{q[static_cast<size_t>(g * kDim + i)]} *
                     double{k[static_cast<size_t>(p * kDim + i)]};
            }
            weights.push_back(std::exp(0.7 * dot));
            total += weights.back();
          }
          for (int64_t i = 0; i < kDim; ++i) {
            double expected = 0;
            for (int64_t p = 0; p < positions; ++p) {
              expected += weights[static_cast<size_t>(p)] / total *
                          double{v[static_cast<size_t>(p * kDim + i)]};
            }
            EXPECT_NEAR(out[static_cast<size_t>(g * kDim + i)], expected, 2e-6)
                << kernels->name << " " << positions;
          }
        }
      }
    }
  }
}

TEST(CpuKernels, Bf16RoundsToNearestEven) {
  for (const Kernels* kernels : all_kernels()) {
    const std::vector<float> x{1.0F, std::bit_cast<float>(0x3f808000U),
                               std::bit_cast<float>(0x3f818000U), -2.5F, 3.0e38F};
    std::vector<uint16_t> out(x.size());
    kernels->to_bf16(x.data(), static_cast<int64_t>(x.size()), out.data());
    EXPECT_EQ(out[0], 0x3f80);
    EXPECT_EQ(out[1], 0x3f80) << "a tie goes to the even neighbour below";
    EXPECT_EQ(out[2], 0x3f82) << "and above";
    EXPECT_EQ(out[3], 0xc020);
    EXPECT_EQ(out[4], 0x7f62);
  }
}

}  // namespace
}  // namespace remora::nn::cpu
