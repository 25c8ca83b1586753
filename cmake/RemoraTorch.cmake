# LibTorch as the imported target remora_torch: its library files and its headers, not the `torch`
# target, which would raise our language level and leak into the export.
if(NOT REMORA_TORCH_DIR)
  message(FATAL_ERROR "REMORA_TORCH_DIR is not set: give the folder of a LibTorch (./dev does)")
endif()
find_path(REMORA_TORCH_INCLUDE ATen/core/Tensor.h
  HINTS "${REMORA_TORCH_DIR}/include" REQUIRED NO_DEFAULT_PATH)
find_library(REMORA_TORCH_CPU torch_cpu HINTS "${REMORA_TORCH_DIR}/lib" REQUIRED NO_DEFAULT_PATH)
find_library(REMORA_TORCH_C10 c10 HINTS "${REMORA_TORCH_DIR}/lib" REQUIRED NO_DEFAULT_PATH)
get_filename_component(REMORA_TORCH_LIB_DIR "${REMORA_TORCH_CPU}" DIRECTORY)
set(remora_torch_files "${REMORA_TORCH_CPU}" "${REMORA_TORCH_C10}")
if(REMORA_CUDA)
  find_library(REMORA_TORCH_CUDA torch_cuda
    HINTS "${REMORA_TORCH_LIB_DIR}" REQUIRED NO_DEFAULT_PATH)
  find_library(REMORA_TORCH_C10_CUDA c10_cuda
    HINTS "${REMORA_TORCH_LIB_DIR}" REQUIRED NO_DEFAULT_PATH)
  list(APPEND remora_torch_files "${REMORA_TORCH_CUDA}" "${REMORA_TORCH_C10_CUDA}")
  # The CUDA runtime's headers: a toolkit's, or those of pip packages beside the torch package.
  find_path(REMORA_CUDA_INCLUDE cuda_runtime_api.h REQUIRED
    HINTS "${REMORA_TORCH_DIR}/../nvidia/cu13/include" "$ENV{CUDA_HOME}/include"
    PATHS /usr/local/cuda/include)
endif()

# REMORA_TORCH_VERSION, "2.13.0".
set(version_header "${REMORA_TORCH_INCLUDE}/torch/headeronly/version.h")
if(NOT EXISTS "${version_header}")
  message(FATAL_ERROR "${REMORA_TORCH_DIR} holds a LibTorch older than 2.11 (no ${version_header})")
endif()
file(STRINGS "${version_header}" version_lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
string(REGEX MATCHALL "[0-9]+" version_numbers "${version_lines}")
list(JOIN version_numbers "." REMORA_TORCH_VERSION)
if(REMORA_TORCH_VERSION VERSION_LESS 2.11)
  message(FATAL_ERROR "LibTorch ${REMORA_TORCH_VERSION} is too old, 2.11 is needed")
endif()

add_library(remora_torch INTERFACE)
target_include_directories(remora_torch SYSTEM INTERFACE "${REMORA_TORCH_INCLUDE}")
# The libraries register their kernels from static initialisers: they must stay in NEEDED.
if(APPLE OR WIN32)
  target_link_libraries(remora_torch INTERFACE ${remora_torch_files})
else()
  target_link_libraries(remora_torch INTERFACE
    -Wl,--no-as-needed ${remora_torch_files} -Wl,--as-needed)
endif()
target_compile_definitions(remora_torch INTERFACE AT_PER_OPERATOR_HEADERS)
