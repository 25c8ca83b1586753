// Watches LibTorch's attention operators: which ran, and what keys, values and mask they were
// given.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include <string>
#include <string_view>
#include <vector>

namespace remora::test {

struct AttentionCall {
  std::string op;
  at::Tensor q, k, v, mask;  // mask undefined where none was given

  // Keys, values and mask columns. Without a mask every key that was given is seen.
  std::vector<int64_t> lengths() const {
    return {k.size(-2), v.size(-2), mask.defined() ? mask.size(-1) : k.size(-2)};
  }
};

// Calls on this thread while it lives.
class AttentionProbe {
 public:
  AttentionProbe() {
    current() = this;
    handle_ = at::addThreadLocalCallback(at::RecordFunctionCallback(&AttentionProbe::seen)
                                             .needsInputs(true)
                                             .scopes({at::RecordScope::FUNCTION}));
  }
  ~AttentionProbe() {
    at::removeCallback(handle_);
    current() = nullptr;
  }
  AttentionProbe(const AttentionProbe&) = delete;
  AttentionProbe& operator=(const AttentionProbe&) = delete;

  std::vector<AttentionCall> calls;

 private:
  static AttentionProbe*& current() {
    thread_local AttentionProbe* probe = nullptr;
    return probe;
  }
  static std::unique_ptr<at::ObserverContext> seen(const at::RecordFunction& fn) {
    const std::string_view name = fn.name();
    const bool flash = name == "aten::_scaled_dot_product_flash_attention_for_cpu";
    const bool math = name == "aten::_scaled_dot_product_attention_math";
    if (!flash && !math) return nullptr;
    const auto inputs = fn.inputs();
    AttentionCall call{
        std::string(name), inputs[0].toTensor(), inputs[1].toTensor(), inputs[2].toTensor(), {}};
    const size_t mask = flash ? 5 : 3;
    if (inputs[mask].isTensor()) call.mask = inputs[mask].toTensor();
    current()->calls.push_back(std::move(call));
    return nullptr;
  }

  at::CallbackHandle handle_;
};

}  // namespace remora::test
