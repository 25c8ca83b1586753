// The sizes of a made-up checkpoint: tiny ones for tests, and those of the released models.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace remora::cli {

enum class Family { kS2Pro, kS1Mini };

// One transformer of the language model: the slow one (over time) or the fast one (over codebooks).
struct StackShape {
  int64_t dim = 0;
  int64_t n_layer = 0;
  int64_t n_head = 0;
  int64_t n_kv_head = 0;
  int64_t head_dim = 0;
  int64_t intermediate = 0;
  bool qk_norm = false;
};

struct LmShape {
  Family family = Family::kS2Pro;
  StackShape slow;
  StackShape fast;  // of another dim than the slow one: there is a projection between them
  int64_t vocab_size = 0;
  int64_t first_control_id = 0;  // ids below it are ordinary text; 0 = right behind the text pieces
  int64_t n_codebooks = 0;
  int64_t codebook_size = 0;
  int64_t max_seq_len = 0;
};

struct CodecStackShape {
  int64_t n_layer = 0;
  int64_t n_head = 0;
  int64_t head_dim = 0;
  int64_t intermediate = 0;
  int64_t window = 0;  // tokens
};

struct CodecShape {
  int64_t sample_rate = 44100;
  int64_t encoder_dim = 0;
  int64_t decoder_dim = 0;
  std::vector<int64_t> encoder_rates = {2, 4, 8, 8};
  std::vector<int64_t> decoder_rates = {8, 8, 4, 2};
  std::vector<int64_t> downsample = {2, 2};
  CodecStackShape encoder_stack;  // behind the last encoder block
  CodecStackShape pre_module;
  CodecStackShape post_module;
  int64_t n_residual = 0;
  int64_t codebook_size = 0;  // of a residual table
  int64_t semantic_codebook_size = 0;
  int64_t codebook_dim = 8;

  // Width between encoder, quantiser and decoder.
  int64_t latent_dim() const { return encoder_dim << encoder_rates.size(); }
};

struct CheckpointShape {
  LmShape lm;
  CodecShape codec;
};

// A few megabytes, every part of the real layout.
CheckpointShape tiny_shape(Family family);

// As small, in the S2-Pro layout, with a codec unlike the released one: 16 kHz, frames of 800
// samples (20 for each second), six tables of which the residual ones are half as long as the
// semantic one. The fast model is narrower than the slow one.
CheckpointShape tiny_16k_shape();

// "s2-pro", "s1-mini", or "s2-pro-attn": attention as in S2-Pro (36 layers, 32 query and 8 KV heads
// of 128) with narrow width, feed-forward and vocabulary, so that attention can be measured in
// little memory. ":N" behind the name makes it N layers deep (the slow model). Throws Failure for
// other texts.
CheckpointShape released_shape(std::string_view text);

}  // namespace remora::cli
