# LibTorch as the imported target remora_torch: its two library files and its headers, not the
# `torch` target, which would raise our language level and leak into the export.
find_path(REMORA_TORCH_INCLUDE ATen/core/Tensor.h
  HINTS "${REMORA_TORCH_DIR}/include" REQUIRED NO_DEFAULT_PATH)
find_library(REMORA_TORCH_CPU torch_cpu HINTS "${REMORA_TORCH_DIR}/lib" REQUIRED NO_DEFAULT_PATH)
find_library(REMORA_TORCH_C10 c10 HINTS "${REMORA_TORCH_DIR}/lib" REQUIRED NO_DEFAULT_PATH)
get_filename_component(REMORA_TORCH_LIB_DIR "${REMORA_TORCH_CPU}" DIRECTORY)

add_library(remora_torch INTERFACE)
target_include_directories(remora_torch SYSTEM INTERFACE "${REMORA_TORCH_INCLUDE}")
# libtorch_cpu.so registers its kernels from static initialisers: it must stay in NEEDED.
target_link_libraries(remora_torch INTERFACE
  -Wl,--no-as-needed "${REMORA_TORCH_CPU}" "${REMORA_TORCH_C10}" -Wl,--as-needed)
target_compile_definitions(remora_torch INTERFACE AT_PER_OPERATOR_HEADERS)
