// The language model's sizes, from either config.json layout.
#pragma once

#include <cstdint>

#include "io/byte_source.h"

namespace remora::lm {

// Which prompt, sampler and stop rules go with the weights.
//   kS2  nested config, model_type fish_qwen3_omni
//   kS1  flat config, model_type dual_ar
enum class Family : int32_t { kS2, kS1 };

// One of the two transformers.
struct StackConfig {
  int64_t layers = 0;
  int64_t dim = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;  // divides heads
  int64_t head_dim = 0;  // heads * head_dim need not equal dim
  int64_t intermediate = 0;
  bool qk_norm = false;
  bool qkv_bias = false;
  bool o_bias = false;

  int64_t qkv_rows() const { return (heads + 2 * kv_heads) * head_dim; }
};

struct LmConfig {
  Family family = Family::kS2;
  StackConfig slow;  // over time
  StackConfig fast;  // over the codebooks of one frame
  int64_t vocab_size = 0;
  int64_t codebook_size = 0;
  int64_t num_codebooks = 0;  // codes in a frame
  int64_t max_seq_len = 0;    // positions the slow stack was trained for
  double rope_base = 0;
  double norm_eps = 0;
  bool tied_head = false;  // the head is the text embedding
  bool scale_codebook_embeddings = false;
  bool norm_fast_input = false;  // the fast stack gets the hidden vector after the final norm
  // As config.json says; 0, 0 when it does not (then only the tokenizer knows).
  int32_t semantic_begin = 0;
  int32_t semantic_end = 0;

  // Integers in a column: the main token and one code per codebook.
  int64_t column_size() const { return 1 + num_codebooks; }
};

// Throws Error{kFormat} naming file and key on a value of the wrong type or outside its range,
// Error{kUnsupported} on another model_type or on mixture of experts.
LmConfig parse_lm_config(const io::ByteSource& source);

// config.json of a checkpoint. Throws Error{kIo} when it is missing.
LmConfig read_lm_config(const io::FileSet& files);

}  // namespace remora::lm
