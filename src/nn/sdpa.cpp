#include "nn/sdpa.h"

#include <ATen/SDPBackend.h>
#include <ATen/ops/_fused_sdp_choice.h>
#include <ATen/ops/_scaled_dot_product_attention_math.h>
#include <ATen/ops/_scaled_dot_product_attention_math_for_mps.h>
#include <ATen/ops/_scaled_dot_product_cudnn_attention.h>
#include <ATen/ops/_scaled_dot_product_efficient_attention.h>
#include <ATen/ops/_scaled_dot_product_flash_attention.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/full.h>
#include <ATen/ops/triu.h>
#include <c10/core/DeviceType.h>

#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "base/concat.h"
#include "base/error.h"

namespace remora::nn {
namespace {

// One call in the operators' own form: four axes, and either a mask, or causal, or all keys.
struct Call {
  at::Tensor q, k, v;              // [batch, heads, n or len, head_dim]
  std::optional<at::Tensor> mask;  // broadcasts to [batch, heads, n, len]
  bool causal = false;             // query i sees keys 0 .. len - n + i
  double scale = 1;
};

// Queries of one position: the group of query heads that shares a key head becomes the query axis,
// so that keys and values are read once and stay where they are.
Call single_query(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                  const at::Tensor& mask) {
  Call call;
  const int64_t groups = q.size(0) / k.size(0);
  call.q = q.reshape({1, k.size(0), groups, q.size(2)});  // [1, kv_heads, groups, head_dim]
  call.k = k.unsqueeze(0);                                // [1, kv_heads, len, head_dim]
  call.v = v.unsqueeze(0);
  if (mask.defined()) call.mask = mask.reshape({1, 1, 1, k.size(1)});
  return call;
}

// Queries of several positions: key heads become the batch, and a stride of 0 over the group
// stands for the repeated key heads.
Call many_queries(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                  const at::Tensor& mask) {
  Call call;
  const int64_t kv_heads = k.size(0), groups = q.size(0) / kv_heads, n = q.size(1);
  const int64_t len = k.size(1), dim = q.size(2);
  call.q = q.reshape({kv_heads, groups, n, dim});
  call.k = k.unsqueeze(1).expand({kv_heads, groups, len, dim});
  call.v = v.unsqueeze(1).expand({kv_heads, groups, len, dim});
  if (mask.defined()) call.mask = mask.reshape({1, 1, n, len});
  call.causal = !mask.defined();
  return call;
}

// The plain operator would copy keys that are repeated by stride 0: fold the group into the query
// axis and repeat the (small) mask in their place.
Call folded(Call call) {
  if (call.q.dim() != 4 || call.q.size(1) == 1 || call.k.stride(1) != 0) return call;
  const int64_t kv_heads = call.q.size(0), groups = call.q.size(1), n = call.q.size(2);
  const int64_t len = call.k.size(2), dim = call.q.size(3);
  call.q = call.q.reshape({1, kv_heads, groups * n, dim});
  call.k = call.k.select(1, 0).unsqueeze(0);  // [1, kv_heads, len, head_dim]
  call.v = call.v.select(1, 0).unsqueeze(0);
  const at::Tensor rows =
      call.mask ? call.mask->reshape({n, len}) : causal_mask(len - n, n, len, call.q.options());
  call.mask = rows.repeat({groups, 1}).reshape({1, 1, groups * n, len});
  call.causal = false;
  return call;
}

// Operators whose causal flag means "aligned to the first key" get a mask unless both agree.
Call with_explicit_mask(Call call) {
  const int64_t n = call.q.size(2), len = call.k.size(2);
  if (call.causal && n != len) {
    call.mask = causal_mask(len - n, n, len, call.q.options()).reshape({1, 1, n, len});
    call.causal = false;
  }
  return call;
}

at::Tensor run_math(Call call) {
  const bool regroup = call.q.size(2) > 1 && call.k.stride(1) == 0 && call.q.size(1) > 1;
  call = with_explicit_mask(regroup ? folded(std::move(call)) : std::move(call));
  if (call.q.device().is_mps()) {
    return std::get<0>(at::_scaled_dot_product_attention_math_for_mps(
        call.q, call.k, call.v, call.mask, 0.0, call.causal, std::nullopt, call.scale));
  }
  return std::get<0>(at::_scaled_dot_product_attention_math(call.q, call.k, call.v, call.mask, 0.0,
                                                            call.causal, std::nullopt, call.scale));
}

at::Tensor run_flash(Call call) {
  if (call.q.device().is_cpu()) {
    call = with_explicit_mask(std::move(call));
    return std::get<0>(at::_scaled_dot_product_flash_attention_for_cpu(
        call.q, call.k, call.v, 0.0, call.causal, call.mask, call.scale));
  }
  // This operator's causal flag is aligned to the last key: no mask is needed for a continued
  // prefill.
  return std::get<0>(at::_scaled_dot_product_flash_attention(call.q, call.k, call.v, 0.0,
                                                             call.causal, false, call.scale));
}

at::Tensor run_efficient(Call call) {
  call = with_explicit_mask(std::move(call));
  return std::get<0>(at::_scaled_dot_product_efficient_attention(
      call.q, call.k, call.v, call.mask, false, 0.0, call.causal, call.scale));
}

at::Tensor run_cudnn(Call call) {
  call = with_explicit_mask(std::move(call));
  return std::get<0>(at::_scaled_dot_product_cudnn_attention(
      call.q, call.k, call.v, call.mask, false, 0.0, call.causal, false, call.scale));
}

// LibTorch's choice for this call, as its own front end would make it.
SdpaPolicy chosen(const Call& call) {
  const int64_t choice =
      at::_fused_sdp_choice(call.q, call.k, call.v, call.mask, 0.0, call.causal, call.scale);
  switch (static_cast<at::SDPBackend>(choice)) {
    case at::SDPBackend::flash_attention:
      return SdpaPolicy::kFlash;
    case at::SDPBackend::efficient_attention:
      return SdpaPolicy::kEfficient;
    case at::SDPBackend::cudnn_attention:
      return SdpaPolicy::kCudnn;
    default:
      return SdpaPolicy::kMath;
  }
}

at::Tensor run(const Call& call, SdpaPolicy backend) {
  switch (backend) {
    case SdpaPolicy::kFlash:
      return run_flash(call);
    case SdpaPolicy::kEfficient:
      return run_efficient(call);
    case SdpaPolicy::kCudnn:
      return run_cudnn(call);
    default:
      return run_math(call);
  }
}

// Empty when the policy can run.
std::string refusal(SdpaPolicy policy, at::Device device, at::ScalarType dtype, int64_t head_dim,
                    bool needs_mask) {
  if (policy == SdpaPolicy::kAuto || policy == SdpaPolicy::kMath) return {};
  if (policy == SdpaPolicy::kBuiltin) return "it is part of the CPU's decode step, not a choice";
  if (device.is_cpu()) {
    return policy == SdpaPolicy::kFlash ? "" : "LibTorch has this backend for CUDA devices only";
  }
  if (!device.is_cuda()) return "LibTorch has this backend for CPU and CUDA devices only";
  if (head_dim % 8 != 0 || head_dim > 256) {
    return concat("the head size is ", head_dim, "; multiples of 8 up to 256 are supported");
  }
  if (policy != SdpaPolicy::kEfficient && dtype == at::kFloat) {
    return "float32 is not supported; use bf16 or f16";
  }
  if (policy == SdpaPolicy::kFlash && needs_mask) {
    return "this backend takes no mask, which the chosen KV mode needs";
  }
  return {};
}

}  // namespace

std::string_view sdpa_name(SdpaPolicy policy) {
  switch (policy) {
    case SdpaPolicy::kAuto:
      return "AUTO";
    case SdpaPolicy::kMath:
      return "MATH";
    case SdpaPolicy::kFlash:
      return "FLASH";
    case SdpaPolicy::kEfficient:
      return "EFFICIENT";
    case SdpaPolicy::kCudnn:
      return "CUDNN";
    case SdpaPolicy::kBuiltin:
      return "BUILTIN";
  }
  return "unknown";
}

void check_sdpa(SdpaPolicy policy, at::Device device, at::ScalarType dtype, int64_t head_dim,
                bool needs_mask) {
  const std::string reason = refusal(policy, device, dtype, head_dim, needs_mask);
  if (reason.empty()) return;
  throw Error(Status::kUnsupported,
              concat("attention backend ", sdpa_name(policy), " on ",
                     c10::DeviceTypeName(device.type()), ": ", reason, "; choose AUTO or MATH"));
}

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const at::Tensor& mask, SdpaPolicy policy, SdpaReport& report) {
  check_sdpa(policy, q.device(), q.scalar_type(), q.size(2), mask.defined());
  const int64_t n = q.size(1);
  Call call = n == 1 ? single_query(q, k, v, mask) : many_queries(q, k, v, mask);
  call.scale = 1.0 / std::sqrt(static_cast<double>(q.size(2)));
  const bool automatic = policy == SdpaPolicy::kAuto;
  report.backend = automatic ? chosen(with_explicit_mask(call)) : policy;
  const at::Tensor out = run(call, report.backend);
  // Heads in order whichever axes carried them: [1, kv_heads, groups * n, d] or
  // [kv_heads, groups, n, d] -> [heads, n, d] -> [n, heads * d]
  return out.reshape({q.size(0), n, q.size(2)}).transpose(0, 1).reshape({n, -1});
}

at::Tensor causal_mask(int64_t start, int64_t n, int64_t len, const at::TensorOptions& options) {
  const double hidden = -std::numeric_limits<double>::infinity();
  return at::full({n, len}, hidden, options).triu_(start + 1);
}

}  // namespace remora::nn
