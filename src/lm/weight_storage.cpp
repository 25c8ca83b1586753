#include "lm/weight_storage.h"

#include <charconv>
#include <limits>
#include <string>
#include <string_view>

#include "base/concat.h"
#include "base/error.h"
#include "io/quote.h"

namespace remora::lm {
namespace {

constexpr std::string_view kWeightSuffix = ".weight";

class Fields {
 public:
  explicit Fields(const io::StateDict& dict) : dict_(dict) {}

  std::string_view text(std::string_view key) const {
    const auto value = dict_.description(key);
    if (!value) fail(key, "is missing");
    return *value;
  }
  int32_t number(std::string_view key, int32_t least) const {
    const std::string_view value = text(key);
    int32_t out = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), out);
    if (error != std::errc() || end != value.data() + value.size() || out < least) {
      fail(key,
           concat("is '", io::printable(value, 40), "', expected a whole number from ", least));
    }
    return out;
  }
  [[noreturn]] void fail(std::string_view key, std::string_view reason) const {
    throw Error(Status::kFormat, concat(dict_.files(), ": metadata ", key, " ", reason,
                                        "; convert the checkpoint again with remora quantize"));
  }

 private:
  const io::StateDict& dict_;
};

}  // namespace

std::string_view weights_name(Weights weights) {
  return weights == Weights::kInt8 ? "int8" : weights == Weights::kInt4 ? "int4" : "dtype";
}

std::optional<SavedWeights> saved_weights(const io::StateDict& dict) {
  const auto version = dict.description(saved_key::kVersion);
  if (!version) return std::nullopt;
  if (*version != kSavedVersion) {
    throw Error(Status::kUnsupported,
                concat(dict.files(), ": quantised weights of format '", io::printable(*version, 40),
                       "', this library reads format ", kSavedVersion,
                       "; convert the checkpoint again with this version's remora quantize"));
  }
  const Fields fields(dict);
  SavedWeights saved;
  const std::string_view weights = fields.text(saved_key::kWeights);
  if (weights == weights_name(Weights::kInt4)) {
    saved.weights = Weights::kInt4;
    saved.int4_group = fields.number(saved_key::kInt4Group, 1);
    if (saved.int4_group != 32 && saved.int4_group != 64) {
      fields.fail(saved_key::kInt4Group, concat("is ", saved.int4_group, ", expected 32 or 64"));
    }
  } else if (weights != weights_name(Weights::kInt8)) {
    fields.fail(saved_key::kWeights,
                concat("is '", io::printable(weights, 40), "', expected int8 or int4"));
  }
  saved.semantic_begin = fields.number(saved_key::kSemanticBegin, 0);
  saved.semantic_end = fields.number(saved_key::kSemanticEnd, 0);
  saved.end_token = fields.number(saved_key::kEndToken, 0);
  saved.residual_codes = fields.number(saved_key::kResidualCodes, 1);
  return saved;
}

std::string scales_name(std::string_view weight_name) {
  if (weight_name.ends_with(kWeightSuffix)) weight_name.remove_suffix(kWeightSuffix.size());
  return concat(weight_name, ".scales");
}

}  // namespace remora::lm
