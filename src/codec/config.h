// Hyper-parameters of the audio codec: every size in this layer comes from here.
#pragma once

#include <cstdint>
#include <vector>

namespace remora::io {
class JsonObject;
}

namespace remora::codec {

// A causal transformer in which a token sees itself and the window - 1 tokens before it.
struct TransformerConfig {
  int64_t layers = 8;
  int64_t heads = 16;
  int64_t head_dim = 64;
  int64_t dim = 1024;
  int64_t intermediate = 3072;
  int64_t window = 128;  // tokens
  double rope_base = 10000.0;
  double norm_eps = 1e-5;
};

// Defaults are the released codec.
struct CodecConfig {
  int64_t sample_rate = 44100;  // Hz

  int64_t encoder_dim = 64;                           // channels of the first convolution
  std::vector<int64_t> encoder_rates = {2, 4, 8, 8};  // strides; each block doubles the channels
  int64_t encoder_transformer_block = 3;              // index of the block it follows; -1: none
  TransformerConfig encoder_transformer{.layers = 4, .window = 512};

  int64_t latent_dim = 1024;
  int64_t decoder_dim = 1536;                         // channels of the first convolution
  std::vector<int64_t> decoder_rates = {8, 8, 4, 2};  // strides; each block halves the channels

  int64_t residual_codebooks = 9;
  int64_t residual_entries = 1024;
  int64_t semantic_entries = 4096;
  int64_t codebook_dim = 8;
  std::vector<int64_t> downsample_factor = {2, 2};  // strides inside the quantiser
  TransformerConfig pre_module;
  TransformerConfig post_module;

  int64_t convnext_kernel = 7;
  int64_t convnext_ratio = 4;
  double convnext_norm_eps = 1e-6;
  double snake_eps = 1e-9;

  // Samples per code frame: the product of encoder_rates and downsample_factor.
  int64_t frame_length() const;
  // Tokens per code frame where the encoder ends and the decoder begins.
  int64_t latents_per_frame() const;
  // Rows of a code matrix: the semantic one and the residual ones.
  int64_t n_codebooks() const { return 1 + residual_codebooks; }
  // Channels behind encoder block `block` (0-based).
  int64_t encoder_channels(int64_t block) const { return encoder_dim << (block + 1); }
  // Channels behind decoder block `block`.
  int64_t decoder_channels(int64_t block) const { return decoder_dim >> (block + 1); }
};

// Reads the schema that codec.json has. Absent fields keep the released values. Throws
// Error{kFormat} naming file and field for a wrong type, an out-of-range number, or two fields that
// contradict each other.
CodecConfig parse_codec_config(const io::JsonObject& json);

}  // namespace remora::codec
