// The kernel sets that this build holds; best_kernels() chooses.
#pragma once

#include "nn/cpu/kernels.h"
#include "nn/cpu/tiles.h"

namespace remora::nn::cpu {

extern const Kernels kPortable;
#if defined(REMORA_X86_KERNELS)
extern const Kernels kAvx2;
extern const Kernels kAvx512Vnni;
extern const TileKernels kAmxTiles;
#elif defined(REMORA_ARM_KERNELS)
extern const Kernels kNeon;
extern const Kernels kDotProduct;
#endif

}  // namespace remora::nn::cpu
