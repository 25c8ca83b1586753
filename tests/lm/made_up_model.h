// Small made-up models of chosen stacks, for measuring: what they say is babble.
#pragma once

#include <memory>

#include "lm/language_model.h"

namespace remora::test {

// An S2 model of bfloat16: 300 tokens, of which 150 to 277 are semantic and 149 ends a turn.
inline std::shared_ptr<const lm::LanguageModel> made_up_model(
    const lm::StackConfig& slow, const lm::StackConfig& fast, int64_t num_codebooks,
    lm::Weights weights = lm::Weights::kAsDtype) {
  lm::LmConfig config;
  config.family = lm::Family::kS2;
  config.slow = slow;
  config.fast = fast;
  config.vocab_size = 300;
  config.codebook_size = 128;
  config.num_codebooks = num_codebooks;
  config.max_seq_len = 32768;
  config.rope_base = 1e6;
  config.norm_eps = 1e-6;
  config.tied_head = true;
  lm::LoadOptions options;
  options.dtype = at::kBFloat16;
  options.weights = weights;
  options.semantic_begin = 150;
  options.semantic_end = 277;
  options.end_token = 149;
  return lm::LanguageModel::random(config, options, 1);
}

}  // namespace remora::test
