// Every stage of decoding against the reference's intermediate results.
#include <ATen/ops/cat.h>

#include <map>
#include <vector>

#include "codec_files.h"
#include "support/golden.h"

namespace remora::codec {
namespace {

using test::golden_codec;

// Everything an observer heard, parts of one path joined in time.
class Recorder {
 public:
  Observer observer() {
    return [this](std::string_view path, const at::Tensor& value) {
      heard_[std::string(path)].push_back(value.clone());
    };
  }
  // In the reference's layout: [1, channels, time] for convolutions, [1, time, channels] inside
  // transformers; heads come as [1, heads, time, head_dim] in both.
  at::Tensor get(const std::string& path, const at::Tensor& reference) const {
    const auto found = heard_.find(path);
    if (found == heard_.end()) return {};
    const auto& parts = found->second;
    const bool heads = parts[0].dim() == 3;
    const at::Tensor whole = at::cat(parts, heads ? 1 : 0).unsqueeze(0);
    return whole.sizes() == reference.sizes() ? whole : whole.transpose(1, 2);
  }

 private:
  std::map<std::string, std::vector<at::Tensor>> heard_;
};

Recorder record(const at::Tensor& codes) {
  Recorder recorder;
  const Observer observer = recorder.observer();
  const DecodePath& path = golden_codec()->decode_path();
  CarriedState state = path.initial_state();
  path.forward(state, codes, nullptr, &observer);
  return recorder;
}

void expect_all(const std::string& item, const Recorder& recorder) {
  const test::Golden reference("codec/decode_intermediates.safetensors");
  const auto index = test::load_json("codec/index.json");
  int compared = 0;
  for (const auto& [key, shape] :
       index["files"]["decode_intermediates.safetensors"]["keys"].items()) {
    if (!key.starts_with(item + "/") || key == item + "/mask") continue;
    const at::Tensor expected = reference[key];
    const at::Tensor actual = recorder.get(key.substr(item.size() + 1), expected);
    ASSERT_TRUE(actual.defined()) << key;
    const double largest = expected.abs().max().item<double>();
    EXPECT_TRUE(test::close(actual, expected, 2e-5 * std::max(1.0, largest))) << key;
    ++compared;
  }
  EXPECT_GT(compared, 10);
}

TEST(DecodeIntermediates, QuantiserSideEqualsTheReference) {
  expect_all("f17", record(test::Golden("codec/decode.safetensors")["codes.f17"][0]));
}

TEST(DecodeIntermediates, DecoderSideEqualsTheReference) {
  expect_all("f3", record(test::Golden("codec/decode.safetensors")["codes.batch2_f3"][0]));
}

}  // namespace
}  // namespace remora::codec
