// Every kernel set that this machine runs, against double precision.
#include "nn/cpu/kernels.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "nn/cpu_matrix.h"

namespace remora::nn::cpu {
namespace {

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

// The sets' names stand in the report of the run: tests/nn/arm/run.sh compares them with what the
// processor that it emulates has.
TEST(CpuKernels, SetsHaveNamesOfTheirOwnAndTheLastIsTheBest) {
  std::set<std::string> names;
  std::string listed;
  for (const Kernels* kernels : all_kernels()) {
    EXPECT_TRUE(names.insert(kernels->name).second) << kernels->name;
    if (!listed.empty()) listed += ' ';
    listed += kernels->name;
  }
  RecordProperty("kernel_sets", listed);
  EXPECT_STREQ(kPlain.name, "portable");
  EXPECT_STREQ(best_kernels().name, all_kernels().back()->name);
}

TEST(CpuKernels, ProductsOfAllKindsMatchDoublePrecisionForOneToFourVectors) {
  for (const Kernels* kernels : all_kernels()) {
    for (const Case& c : kCases) {
      const Matrix matrix(c.kind, c.rows, c.cols, c.group);
      std::vector<std::vector<float>> x;
      for (uint32_t v = 0; v < kMaxVectors; ++v) {
        x.push_back(random_floats(static_cast<size_t>(c.cols), 10 + v));
      }
      // 16-bit activations carry 1.6e-5 of a group's largest number each; float32 sums less.
      expect_products(*kernels, matrix, x, 2e-5);
    }
  }
}

// Weights that are whole numbers, so that they are stored as they are: rows of the largest alone,
// of the smallest alone (but for the number that sets the scale), and of both in turn.
std::vector<float> extreme_weights(const Case& c, float low, float high) {
  std::vector<float> out;
  for (int64_t r = 0; r < c.rows; ++r) {
    for (int64_t k = 0; k < c.cols; ++k) {
      const bool sets_scale = k % 32 == 0;
      out.push_back(r % 3 == 0 || sets_scale || (r % 3 == 2 && k % 2 == 1) ? low : high);
    }
  }
  return out;
}

TEST(CpuKernels, TheLargestNumbersDoNotOverflowTheirSums) {
  // Stored as they are, since the largest of a group is 32512, in planes (127, 0), (-127, 0),
  // (127, -128), (-126, -128) and (126, 127).
  const float kWholes[] = {32512, -32512, 32384, -32384, 32383};
  for (const Case& c : {Case{MatrixKind::kInt8, 48, 128, 0}, Case{MatrixKind::kInt4, 48, 128, 32},
                        Case{MatrixKind::kInt4, 48, 128, 64}}) {
    const bool int8 = c.kind == MatrixKind::kInt8;
    const std::vector<float> weights = extreme_weights(c, int8 ? -127 : -8, int8 ? 127 : 7);
    const Matrix matrix(c.kind, c.rows, c.cols, c.group, weights);
    ASSERT_EQ(matrix.exact, weights);
    for (const float whole : kWholes) {
      std::vector<float> x(static_cast<size_t>(c.cols), whole);
      for (size_t k = 0; k < x.size(); k += kGroup) x[k] = 32512;
      // Nothing is rounded but the float32 sums of two to four groups and the bias.
      for (const Kernels* kernels : all_kernels()) {
        expect_products(*kernels, matrix, std::vector(kMaxVectors, x), 3e-7);
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
