// What one tensor of a made-up checkpoint holds, so that any byte of it can be made when asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace remora::cli {

enum class Dtype { kBf16, kF32 };

inline uint64_t byte_size(Dtype dtype) { return dtype == Dtype::kBf16 ? 2 : 4; }

// Evenly distributed numbers with this mean and standard deviation; deviation 0: all equal.
struct Fill {
  double mean = 0;
  double deviation = 0;
  bool held = false;  // one number for all of the last axis: a convolution kernel that smooths
};

// A block of a matrix that is set to one value after the fill.
struct Patch {
  int64_t row_begin = 0;
  int64_t row_end = 0;
  int64_t column_begin = 0;
  int64_t column_end = 0;
  float value = 0;
};

struct TensorSpec {
  std::string name;
  std::vector<int64_t> shape;
  Dtype dtype = Dtype::kF32;
  Fill fill;
  std::vector<Patch> patches;  // only for matrices, and only small ones: they are made whole

  uint64_t elements() const {
    uint64_t product = 1;
    for (const int64_t size : shape) product *= static_cast<uint64_t>(size);
    return product;
  }
  uint64_t bytes() const { return elements() * byte_size(dtype); }
};

// Writes bytes [offset, offset + out.size()) of the tensor. The numbers depend on `seed`, the
// tensor's name and the position alone: not on the machine, and not on how the reads are cut.
void generate(const TensorSpec& spec, uint64_t seed, uint64_t offset, std::span<std::byte> out);

}  // namespace remora::cli
