// What a pass through the network carries besides the data.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string_view>

#include "base/cancel.h"
#include "base/concat.h"
#include "codec/state.h"

namespace remora::codec {

// Hears intermediate results by module path, such as "decoder.model.0". Long inputs are worked on
// in parts, so a path may be heard more than once, in time order.
using Observer = std::function<void(std::string_view path, const at::Tensor& value)>;

struct Pass {
  CarriedState& state;
  const CancelFlag* cancel = nullptr;
  const Observer* observer = nullptr;  // null outside tests

  void note(std::string_view module, std::string_view part, const at::Tensor& value) const {
    if (observer != nullptr) (*observer)(concat(module, part), value);
  }
  void check(std::string_view doing) const {
    if (cancel != nullptr) cancel->check(doing);
  }
};

}  // namespace remora::codec
