#if defined(REMORA_X86_KERNELS)
#include <cpuid.h>
#endif

#include <vector>

#include "nn/cpu/kernel_sets.h"

namespace remora::nn::cpu {
namespace {

#if defined(REMORA_X86_KERNELS)
// Not every compiler's __builtin_cpu_supports knows it. That the system saves the wide registers is
// part of its answer for AVX2.
bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}
#endif

std::vector<const Kernels*> runnable() {
  std::vector<const Kernels*> sets{&kPortable};
#if defined(REMORA_X86_KERNELS)
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512vnni");
  if (avx2) sets.push_back(&kAvx2);
  if (avx2 && avx512) sets.push_back(&kAvx512Vnni);
#endif
  return sets;
}

}  // namespace

std::span<const Kernels* const> all_kernels() {
  // Never destroyed: threads may still work while the process exits.
  static const auto& sets = *new std::vector<const Kernels*>(runnable());
  return sets;
}

const Kernels& best_kernels() { return *all_kernels().back(); }

}  // namespace remora::nn::cpu
