// How the matrices of a language model are kept, and what a checkpoint file that holds them so says
// about itself. The format of such files: docs/quantised-format.md.
#pragma once

#include <cstdint>
#include <optional>

#include "io/state_dict.h"
#include "nn/linear.h"

namespace remora::lm {

// Values equal REMORA_WEIGHTS_* in remora.h.
//   kAsDtype  in the model's dtype; asked of a quantised checkpoint: as it holds them
//   kInt8     8 bits and a scale for each row
//   kInt4     4 bits and a scale for 32 or 64 columns of a row; the fast model, the heads and the
//             projection stay at 8 bits
// Quantised matrices need the CPU. Tables and norms keep their precision.
enum class Weights : int32_t { kAsDtype = 0, kInt8 = 1, kInt4 = 2 };

// Columns that share a scale at 4 bits where nobody says otherwise.
inline constexpr int32_t kInt4Group = 64;

// "dtype", "int8", "int4"
std::string_view weights_name(Weights weights);

// Of a checkpoint whose matrices are quantised in the file.
struct SavedWeights {
  Weights weights = Weights::kInt8;
  int32_t int4_group = 0;  // 0 at 8 bits
  // The heads are cut to what may be sampled, so they belong to a tokenizer and a range of codes.
  int32_t semantic_begin = 0;
  int32_t semantic_end = 0;
  int32_t end_token = 0;
  int32_t residual_codes = 0;  // rows of the fast model's head
};

// The metadata that tells it: a version first, which changes when an older reader would be wrong.
inline constexpr std::string_view kSavedVersion = "1";
namespace saved_key {
inline constexpr std::string_view kVersion = "remora.quantised";
inline constexpr std::string_view kWeights = "remora.weights";
inline constexpr std::string_view kInt4Group = "remora.int4_group";
inline constexpr std::string_view kSemanticBegin = "remora.semantic_begin";
inline constexpr std::string_view kSemanticEnd = "remora.semantic_end";
inline constexpr std::string_view kEndToken = "remora.end_token";
inline constexpr std::string_view kResidualCodes = "remora.residual_codes";
}  // namespace saved_key

// Nothing for a checkpoint as it was released. Throws Error{kUnsupported} for another version of
// the format and kFormat for a field that is missing or no number in its range.
std::optional<SavedWeights> saved_weights(const io::StateDict& dict);

// The name under which the scales of `X.weight` are saved: `X.scales`.
std::string scales_name(std::string_view weight_name);

// What a conversion lost, for one kind of matrix: all layers of a stack together.
struct LayerError {
  std::string layer;  // "layers.*.attention.wqkv"
  nn::WeightFormat format;
  nn::QuantisationError error;
};

}  // namespace remora::lm
