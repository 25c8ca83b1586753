// What this processor and its system run, beyond what the build takes for granted. Of each
// processor family only its own file is built.
#pragma once

namespace remora::nn::cpu {

// x86: features_x86.cpp
bool has_avx2();  // with FMA and F16C
bool has_avx512_vnni();
// AMX with bfloat16. Asks the system for its use, which it gives to the whole process.
bool has_tiles();

// 64-bit ARM: features_arm.cpp
bool has_dot_product();

}  // namespace remora::nn::cpu
