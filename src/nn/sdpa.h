// Scaled dot-product attention by an explicitly chosen backend, without copying keys or values.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>

namespace remora::nn {

// Values equal REMORA_SDPA_* in remora.h. kBuiltin is only reported, never asked for: the attention
// inside a decode step that runs as one on the CPU, which kAuto takes where it can.
enum class SdpaPolicy : int32_t {
  kAuto = 0,
  kMath = 1,
  kFlash = 2,
  kEfficient = 3,
  kCudnn = 4,
  kBuiltin = 5,
};

std::string_view sdpa_name(SdpaPolicy policy);

// The backend that ran last; kAuto while none has run.
struct SdpaReport {
  SdpaPolicy backend = SdpaPolicy::kAuto;
};

// Throws Error{kUnsupported} with the reason when `policy` cannot run on this device, dtype and
// head size, or with an additive mask where `needs_mask` says that one will be given. kAuto and
// kMath always can.
void check_sdpa(SdpaPolicy policy, at::Device device, at::ScalarType dtype, int64_t head_dim,
                bool needs_mask);

// softmax(q k^T / sqrt(head_dim) + mask) v with grouped query heads: query head h reads key/value
// head h / (heads / kv_heads), and neither keys nor values are expanded or copied.
//   q: [heads, n, head_dim]; k, v: [kv_heads, len, head_dim], any strides with unit last stride
//   mask: undefined, or additive [n, len] in float32 or q's dtype; undefined means that all keys
//     are seen when n is 1 and that query i sees keys 0 .. len - n + i otherwise (causal)
// Returns [n, heads * head_dim]. kAuto takes LibTorch's own choice; any other policy runs exactly
// that backend or throws Error{kUnsupported}. No LibTorch switch is read beyond kAuto's choice,
// none is written.
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const at::Tensor& mask, SdpaPolicy policy, SdpaReport& report);

// Additive mask [n, len] in `options`' dtype for queries at positions start .. start + n - 1: 0 for
// keys up to the query's own position, -inf behind it.
at::Tensor causal_mask(int64_t start, int64_t n, int64_t len, const at::TensorOptions& options);

}  // namespace remora::nn
