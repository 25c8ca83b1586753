#include "recorder.h"

#include <ATen/ops/cat.h>

#include <algorithm>

#include "support/golden.h"

namespace remora::test {

codec::Observer Recorder::observer() {
  return [this](std::string_view path, const at::Tensor& value) {
    heard_[std::string(path)].push_back(value.clone());
  };
}

at::Tensor Recorder::get(const std::string& path, const at::Tensor& reference) const {
  const auto found = heard_.find(path);
  if (found == heard_.end()) return {};
  const auto& parts = found->second;
  const bool heads = parts[0].dim() == 3;
  const at::Tensor whole = at::cat(parts, heads ? 1 : 0).unsqueeze(0);
  return whole.sizes() == reference.sizes() ? whole : whole.transpose(1, 2);
}

void Recorder::expect_reference(const std::string& file, const std::string& item,
                                const std::set<std::string>& not_heard) const {
  const Golden golden("codec/" + file);
  const nlohmann::json index = load_json("codec/index.json");
  int compared = 0;
  for (const auto& [key, shape] : index["files"][file]["keys"].items()) {
    if (!key.starts_with(item + "/") || not_heard.contains(key)) continue;
    const at::Tensor expected = golden[key];
    const at::Tensor actual = get(key.substr(item.size() + 1), expected);
    ASSERT_TRUE(actual.defined()) << key;
    // Float32 sums in another order, relative to the largest number of the tensor.
    const double largest = expected.abs().max().item<double>();
    EXPECT_TRUE(close(actual, expected, 2e-5 * std::max(1.0, largest))) << key;
    ++compared;
  }
  EXPECT_GT(compared, 10);
}

}  // namespace remora::test
