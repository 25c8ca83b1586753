#if defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#elif defined(__APPLE__)
#include <sys/sysctl.h>

#include <cstddef>
#endif

#include "nn/cpu/features.h"

namespace remora::nn::cpu {

// A program cannot ask the processor itself: the system tells, or the answer is no.
bool has_dot_product() {
#if defined(__linux__)
  return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#elif defined(__APPLE__)
  int there = 0;
  size_t size = sizeof there;
  return sysctlbyname("hw.optional.arm.FEAT_DotProd", &there, &size, nullptr, 0) == 0 && there != 0;
#else
  return false;
#endif
}

}  // namespace remora::nn::cpu
