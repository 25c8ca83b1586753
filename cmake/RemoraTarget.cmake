# Flags of every target of ours; nothing global, so that add_subdirectory() leaves the host alone.
function(remora_target_defaults target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    C_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE -Wall -Wextra $<$<BOOL:${REMORA_WERROR}>:-Werror>)
  if(REMORA_WERROR AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND
     CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC 12 sees overlapping copies in std::string::append where there are none (its bug 105651).
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wno-error=restrict>)
  endif()
  if(REMORA_RELOCATABLE)
    # __FILE__ in LibTorch's checks and ours: a package must not tell where it was built.
    target_compile_options(${target} PRIVATE
      "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=" "-fmacro-prefix-map=${REMORA_TORCH_DIR}/=torch/")
  endif()
  if(REMORA_SANITIZE)
    list(JOIN REMORA_SANITIZE "," sanitizers)
    # A report ends the program: a test that goes on after one would pass.
    target_compile_options(${target} PRIVATE
      -fsanitize=${sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
    target_link_options(${target} PRIVATE -fsanitize=${sanitizers})
  endif()
  if(REMORA_FUZZ)
    # Counts executed edges; libFuzzer's main comes with the targets of tests/fuzz alone.
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link,address,undefined
      -fno-sanitize-recover=all -fno-omit-frame-pointer -g1)
    target_link_options(${target} PRIVATE -fsanitize=address,undefined)
  endif()
  if(REMORA_COVERAGE)
    target_compile_options(${target} PRIVATE --coverage)
    target_link_options(${target} PRIVATE --coverage)
  endif()
endfunction()
