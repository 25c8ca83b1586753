// Reference data under tests/data and comparisons that print where and by how much they fail.
#pragma once

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "io/state_dict.h"

namespace remora::test {

// "<tests/data>/<relative>"
std::string data_path(const std::string& relative);

nlohmann::json load_json(const std::string& relative);

// One .safetensors file of reference tensors.
class Golden {
 public:
  explicit Golden(const std::string& relative);
  at::Tensor operator[](const std::string& key) const;
  bool has(const std::string& key) const { return dict_.contains(key); }

 private:
  io::StateDict dict_;
};

// EXPECT_TRUE(close(a, b, 2e-5)): same shape and max |a - b| <= atol. `atol` 0 asks for equality.
testing::AssertionResult close(const at::Tensor& actual, const at::Tensor& expected, double atol);

}  // namespace remora::test
