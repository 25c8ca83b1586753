#include "lm/tiny_model.h"

#include <ATen/TensorOperators.h>

#include "io/byte_source.h"

namespace remora::test {

TinyModel::TinyModel(const std::string& name, at::ScalarType dtype)
    : tensors("lm/" + name + "_cases.safetensors"), cases(load_json("lm/" + name + "_cases.json")) {
  lm::LoadOptions load = options();
  load.dtype = dtype;
  model = lm::LanguageModel::load(*io::open_directory(data_path("lm/" + name + "_tiny")), load);
}

lm::LoadOptions TinyModel::options() const {
  lm::LoadOptions load;
  load.semantic_begin = cases.at("semantic_begin_id");
  load.semantic_end = cases.at("semantic_end_id");
  load.end_token = cases.at("im_end_id");
  return load;
}

std::vector<int32_t> TinyModel::columns(const std::string& key) const {
  const at::Tensor flat = tensors[key].t().contiguous();
  const int32_t* data = flat.const_data_ptr<int32_t>();
  return {data, data + flat.numel()};
}

std::vector<std::vector<int32_t>> split_columns(const std::vector<int32_t>& flat, int64_t stride) {
  std::vector<std::vector<int32_t>> out;
  for (auto at = flat.begin(); at != flat.end(); at += stride) out.emplace_back(at, at + stride);
  return out;
}

void Recorder::on_slow(const at::Tensor& slow_logits, const at::Tensor& slow_hidden) {
  logits.push_back(slow_logits.clone());
  hidden.push_back(slow_hidden.to(at::kFloat).reshape({-1}).clone());
}

void Recorder::on_fast(int64_t codebook, const at::Tensor& fast_logits) {
  if (codebook == 1) fast.emplace_back();
  fast.back().push_back(fast_logits.clone());
}

std::vector<std::vector<int32_t>> run_frames(lm::Decoder& decoder, int64_t most) {
  const CancelFlag cancel;
  std::vector<std::vector<int32_t>> out;
  for (int64_t i = 0; i < most; ++i) {
    const lm::Frame frame = decoder.step(cancel);
    out.push_back({frame.main_token});
    if (frame.is_end) break;
    out.back().insert(out.back().end(), frame.codes.begin(), frame.codes.end());
  }
  return out;
}

}  // namespace remora::test
