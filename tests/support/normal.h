// Random numbers for tests, the same for the same seed.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/randn.h>

#include <cstdint>
#include <vector>

namespace remora::test {

// Standard normal, float32.
inline at::Tensor normal(const std::vector<int64_t>& shape, uint64_t seed) {
  return at::randn(shape, at::make_generator<at::CPUGeneratorImpl>(seed),
                   at::TensorOptions().dtype(at::kFloat));
}

}  // namespace remora::test
