#include "support/golden.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/isfinite.h>

#include <fstream>
#include <stdexcept>

#include "base/concat.h"

namespace remora::test {

std::string data_path(const std::string& relative) {
  return std::string(REMORA_TEST_DATA) + "/" + relative;
}

nlohmann::json load_json(const std::string& relative) {
  std::ifstream in(data_path(relative));
  if (!in) throw std::runtime_error("no test data file " + relative);
  return nlohmann::json::parse(in);
}

Golden::Golden(const std::string& relative) {
  io::read_safetensors(io::open_file(data_path(relative)), dict_);
}

at::Tensor Golden::operator[](const std::string& key) const {
  const io::StoredTensor* stored = dict_.find(key);
  if (stored == nullptr) throw std::runtime_error("no reference tensor " + key);
  return stored->load();
}

testing::AssertionResult close(const at::Tensor& actual, const at::Tensor& expected, double atol) {
  if (actual.sizes() != expected.sizes()) {
    return testing::AssertionFailure() << "shape " << shape_text(actual.sizes()) << ", expected "
                                       << shape_text(expected.sizes());
  }
  if (actual.numel() == 0) return testing::AssertionSuccess();
  const at::Tensor a = actual.to(at::kDouble).reshape({-1});
  const at::Tensor e = expected.to(at::kDouble).reshape({-1});
  if (!at::isfinite(a).all().item<bool>()) {
    return testing::AssertionFailure() << "not finite";
  }
  const at::Tensor difference = (a - e).abs();
  const auto worst = difference.argmax().item<int64_t>();
  const double value = difference[worst].item<double>();
  if (value <= atol) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "largest difference " << value << " > " << atol << " at flat index " << worst << ": "
         << a[worst].item<double>() << ", expected " << e[worst].item<double>();
}

}  // namespace remora::test
