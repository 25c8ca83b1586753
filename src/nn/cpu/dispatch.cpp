#include <vector>

#include "nn/cpu/features.h"
#include "nn/cpu/kernel_sets.h"

namespace remora::nn::cpu {
namespace {

std::vector<const Kernels*> runnable() {
  std::vector<const Kernels*> sets{&kPortable};
#if defined(REMORA_X86_KERNELS)
  if (has_avx2()) sets.push_back(&kAvx2);
  if (has_avx2() && has_avx512_vnni()) sets.push_back(&kAvx512Vnni);
#elif defined(REMORA_ARM_KERNELS)
  sets.push_back(&kNeon);
  if (has_dot_product()) sets.push_back(&kDotProduct);
#endif
  return sets;
}

}  // namespace

std::span<const Kernels* const> all_kernels() {
  // Never destroyed: threads may still work while the process exits.
  static const auto& sets = *new std::vector<const Kernels*>(runnable());
  return sets;
}

const TileKernels* tile_kernels() {
#if defined(REMORA_X86_KERNELS)
  static const bool there = has_tiles();
  return there ? &kAmxTiles : nullptr;
#else
  return nullptr;
#endif
}

const Kernels& best_kernels() { return *all_kernels().back(); }

}  // namespace remora::nn::cpu
