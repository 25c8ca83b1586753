# remora_cpu_kernels(<target>): the kernels of the processor that is built for. One file for each
# instruction set, each with its own flags; which one runs is decided at run time.
function(remora_cpu_kernels target)
  set(folder "${CMAKE_CURRENT_FUNCTION_LIST_DIR}")
  # -fopenmp-simd only lets loops use vector registers: no threads, no run-time library.
  # GCC warns of its own intrinsics (uninitialised) and of vector types as such (psabi).
  set(flags -O3 -fopenmp-simd -fno-math-errno -fno-trapping-math -Wno-psabi)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND flags -Wno-maybe-uninitialized -Wno-uninitialized)
  endif()
  # The sets beyond the portable one, and flags_<set> that a set needs.
  set(others "")
  if(MSVC)
    set(flags "")
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
    target_compile_definitions(${target} PRIVATE REMORA_X86_KERNELS)
    set(others features_x86 kernels_avx2 kernels_avx512 kernels_tiles)
    set(wide -mavx512f -mavx512bw -mavx512dq -mavx512vl)
    set(flags_kernels_avx2 -mavx2 -mfma -mf16c)
    set(flags_kernels_avx512 ${wide} -mavx512vnni -mfma -mf16c -mprefer-vector-width=512)
    set(flags_kernels_tiles ${wide} -mavx512bf16 -mfma -mf16c -mamx-tile -mamx-bf16
      -mprefer-vector-width=512)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
    target_compile_definitions(${target} PRIVATE REMORA_ARM_KERNELS)
    set(others features_arm kernels_neon kernels_dotprod)
    set(flags_kernels_dotprod -march=armv8.2-a+dotprod)
  endif()
  foreach(name dispatch kernels_portable pack ${others})
    target_sources(${target} PRIVATE "${folder}/${name}.cpp")
    set_source_files_properties("${folder}/${name}.cpp" PROPERTIES
      COMPILE_OPTIONS "${flags};${flags_${name}}")
  endforeach()
endfunction()
