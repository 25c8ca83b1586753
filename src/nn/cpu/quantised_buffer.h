// The memory behind one quantised input vector.
#pragma once

#include <cstdint>
#include <vector>

#include "nn/cpu/kernels.h"

namespace remora::nn::cpu {

class QuantisedBuffer {
 public:
  // `cols`: at most; any number, padded here.
  explicit QuantisedBuffer(int64_t cols) {
    const auto padded = static_cast<size_t>((cols + kGroup - 1) / kGroup * kGroup);
    wide_.resize(padded);
    high_.resize(padded);
    low_.resize(padded);
    scale_.resize(padded / kGroup);
    high_sum_.resize(padded / 32);
    low_sum_.resize(padded / 32);
  }
  Quantised view() {
    return {wide_.data(),  high_.data(),     low_.data(),
            scale_.data(), high_sum_.data(), low_sum_.data()};
  }

 private:
  std::vector<int16_t> wide_;
  std::vector<int8_t> high_, low_;
  std::vector<float> scale_;
  std::vector<int32_t> high_sum_, low_sum_;
};

}  // namespace remora::nn::cpu
