// Weights by the model's own names: out of a checkpoint, or made up.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/state_dict.h"
#include "lm/config.h"
#include "lm/language_model.h"
#include "nn/linear.h"

namespace remora::lm {

// The names of a checkpoint file brought to the model's own:
//   text_model.model.X -> X; audio_decoder.codebook_embeddings.X -> codebook_embeddings.X; any
//   other audio_decoder.X -> fast_X
// and, in a file without such names, as training tools save it: if the first name starts with
// `model.`, that text goes wherever it stands, and names with `audio_` (parts that the released
// models do not use) are dropped.
// A quantised checkpoint (saved_weights) has the model's own names already.
io::StateDict own_names(const io::StateDict& dict);

// Gives tensors by own name. Each must be asked for once; finish() comes last.
class WeightSource {
 public:
  virtual ~WeightSource() = default;

  // In the model's dtype, on its device.
  virtual at::Tensor weight(const std::string& name, const std::vector<int64_t>& shape) = 0;
  // A look-up table, as stored, in CPU memory.
  virtual at::Tensor table(const std::string& name, const std::vector<int64_t>& shape) = 0;
  // Some rows of a matrix [shape[0], shape[1]], in the model's dtype, on its device.
  virtual at::Tensor rows(const std::string& name, const std::vector<int64_t>& shape,
                          std::span<const int32_t> wanted) = 0;
  // A matrix that the checkpoint holds quantised, used in place: the first `rows` of the
  // `stored_rows` that it must have.
  virtual nn::PackedMatrix packed(const std::string& name, const nn::WeightFormat& format,
                                  int64_t stored_rows, int64_t rows, int64_t cols) = 0;
  // Whether the checkpoint has a tensor of that name.
  virtual bool has(const std::string& name) const = 0;
  // Throws Error{kFormat} listing what was missing or misshaped.
  virtual void finish() = 0;
  // Tells the weights of two models apart, with near certainty, without reading all of them.
  virtual uint64_t fingerprint() const = 0;
};

// Tensor by tensor, so that no more than one is there twice; checks the cancel flag and reports
// progress at each. `dict` holds own names and is borrowed.
std::unique_ptr<WeightSource> checkpoint_weights(const io::StateDict& dict,
                                                 const LoadOptions& options);

// Small random numbers, the same for the same seed; norms are 1.
std::unique_ptr<WeightSource> random_weights(const LoadOptions& options, uint64_t seed);

}  // namespace remora::lm
