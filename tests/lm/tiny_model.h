// The tiny reference checkpoints, and prompts and frames as their reference files hold them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lm/decoder.h"
#include "lm/language_model.h"
#include "support/golden.h"

namespace remora::test {

// "s2pro", "s1mini" or "s1proj": <name>_tiny, <name>_cases.json and <name>_cases.safetensors.
class TinyModel {
 public:
  explicit TinyModel(const std::string& name, at::ScalarType dtype = at::kFloat);

  std::shared_ptr<const lm::LanguageModel> model;
  Golden tensors;
  nlohmann::json cases;

  // [rows, n] reference matrix as columns, one after the other.
  std::vector<int32_t> columns(const std::string& key) const;
  lm::LoadOptions options() const;
};

// Columns as a list of columns, for readable comparisons.
std::vector<std::vector<int32_t>> split_columns(const std::vector<int32_t>& flat, int64_t stride);

// Everything a decoder's models put out.
class Recorder final : public lm::DecoderObserver {
 public:
  void on_slow(const at::Tensor& logits, const at::Tensor& hidden) override;
  void on_fast(int64_t codebook, const at::Tensor& logits) override;

  std::vector<at::Tensor> logits, hidden;
  std::vector<std::vector<at::Tensor>> fast;  // per frame, codebooks 1 and up
};

inline lm::SamplingParams greedy() {
  lm::SamplingParams params;
  params.greedy = true;
  return params;
}

// Steps up to `most` frames; stops behind the end frame. Columns [main, codes...]; the end frame
// is its main token alone.
std::vector<std::vector<int32_t>> run_frames(lm::Decoder& decoder, int64_t most);

}  // namespace remora::test
