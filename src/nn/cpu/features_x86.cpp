#include <cpuid.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

#include "nn/cpu/features.h"

namespace remora::nn::cpu {
namespace {

// Not every compiler's __builtin_cpu_supports knows it. That the system saves the wide registers is
// part of its answer for AVX2.
bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

bool processor_has_tiles() {
  constexpr unsigned kTile = 1U << 24, kTileBf16 = 1U << 22, kAvx512Bf16 = 1U << 5;
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) == 0) return false;
  if ((edx & kTile) == 0 || (edx & kTileBf16) == 0) return false;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & kAvx512Bf16) != 0;
}

// Linux saves the tiles of a process that has asked for them, and refuses where it cannot.
bool system_gives_tiles() {
#if defined(__linux__) && defined(SYS_arch_prctl)
  constexpr int kRequest = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int kTileData = 18;
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
#else
  return false;
#endif
}

}  // namespace

bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c();
}

bool has_avx512_vnni() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vnni");
}

bool has_tiles() { return has_avx512_vnni() && processor_has_tiles() && system_gives_tiles(); }

}  // namespace remora::nn::cpu
