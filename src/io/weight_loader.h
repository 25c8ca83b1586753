// Strict access to a StateDict: every tensor a model needs, with the shape it needs, or one error.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/state_dict.h"

namespace remora::io {

// What take() brings: the numbers, or only shape and dtype on the meta device, which has no memory.
enum class Reading : uint8_t { kNumbers, kShapes };

// Call take() for each tensor, then finish(). Problems are collected, so that one message lists
// what is missing or misshaped (the first ten and the count); until finish() has returned, a
// tensor that had a problem comes back as zeros of the expected shape.
class WeightLoader {
 public:
  explicit WeightLoader(const StateDict& dict, Reading reading = Reading::kNumbers);

  // As stored: a mapped view where the file allows it.
  at::Tensor take(std::string_view name, const std::vector<int64_t>& shape);
  // Converted to `dtype` (a view when it already is).
  at::Tensor take(std::string_view name, const std::vector<int64_t>& shape, at::ScalarType dtype);

  bool has(std::string_view name) const { return dict_.contains(name); }
  // The stored shape, or empty when absent: for sizes that only the tensors tell.
  std::vector<int64_t> shape_of(std::string_view name) const;
  // Marks a tensor as known and not needed.
  void ignore(std::string_view name) { used_.insert(std::string(name)); }
  // Records a problem of the caller's own finding.
  void problem(std::string text) { problems_.push_back(std::move(text)); }

  // Throws Error{kFormat} if anything was missing or misshaped; notes unused tensors at debug
  // level.
  void finish() const;

 private:
  const StoredTensor* checked(std::string_view name, const std::vector<int64_t>& shape);

  const StateDict& dict_;
  Reading reading_;
  std::set<std::string, std::less<>> used_;
  std::vector<std::string> problems_;
};

}  // namespace remora::io
