// The logits that the codes of a session's last frame were drawn from, kept for its caller.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lm/decoder.h"

namespace remora::engine {

// Copies what the decoder shows: its own tensors are overwritten by the next code. After the first
// frame it allocates nothing.
class FrameLogits final : public lm::DecoderObserver {
 public:
  explicit FrameLogits(int64_t n_codebooks) : of_codebook_(static_cast<size_t>(n_codebooks)) {}

  void on_fast(int64_t codebook, const at::Tensor& logits) override {
    const at::Tensor rows = logits.contiguous();
    const float* first = rows.const_data_ptr<float>();
    of_codebook_[static_cast<size_t>(codebook)].assign(first, first + rows.numel());
  }

  // codebook: 1 .. n_codebooks - 1. Entry i is code i; empty without a frame since forget().
  const std::vector<float>& of(int32_t codebook) const {
    return of_codebook_[static_cast<size_t>(codebook)];
  }

  void forget() {
    for (std::vector<float>& logits : of_codebook_) logits.clear();
  }

 private:
  std::vector<std::vector<float>> of_codebook_;  // the first stays empty: see Decoder::next_logits
};

}  // namespace remora::engine
