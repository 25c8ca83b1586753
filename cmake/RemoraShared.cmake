# remora_shared_library(<target>): everything that makes a SHARED target of ours *the* libremora.
# Used once, from src/c_api/CMakeLists.txt:
#
#   add_library(remora SHARED model.cpp session.cpp ...)
#   target_link_libraries(remora PRIVATE remora_engine)
#   remora_shared_library(remora)
#
# It sets the public include folder, the file name and SONAME, the exported symbols, the linker's
# safety switches and the run path, and makes the alias remora::remora. Link layers PRIVATE only:
# a consumer must never see LibTorch.

# The ABI version stands in the public header and nowhere else.
function(remora_abi_version out)
  set(header "${PROJECT_SOURCE_DIR}/include/remora/remora.h")
  file(STRINGS "${header}" line REGEX "^#[ ]*define[ ]+REMORA_ABI_VERSION[ ]+[0-9]+")
  if(NOT line MATCHES "REMORA_ABI_VERSION[ ]+([0-9]+)")
    message(FATAL_ERROR "${header}: no '#define REMORA_ABI_VERSION <number>'")
  endif()
  set(version "${CMAKE_MATCH_1}")
  set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY
    CMAKE_CONFIGURE_DEPENDS "${header}")
  set(${out} "${version}" PARENT_SCOPE)
endfunction()

function(remora_shared_library target)
  remora_abi_version(abi_version)
  remora_target_defaults(${target})
  target_compile_definitions(${target} PRIVATE REMORA_BUILDING)
  target_include_directories(${target} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")
  set_target_properties(${target} PROPERTIES OUTPUT_NAME remora EXPORT_NAME remora)
  if(NOT ANDROID)  # an APK keeps no symbolic links: there the file carries the plain name
    set_target_properties(${target} PROPERTIES
      VERSION "${PROJECT_VERSION}" SOVERSION "${abi_version}")
  endif()
  if(APPLE)
    set(exports "${PROJECT_SOURCE_DIR}/cmake/remora.exports")
    target_link_options(${target} PRIVATE "LINKER:-exported_symbols_list,${exports}")
    set_target_properties(${target} PROPERTIES LINK_DEPENDS "${exports}" MACOSX_RPATH ON)
  elseif(UNIX)
    remora_elf_link_rules(${target})
  endif()
  remora_install_rpath(${target} ".")
  add_library(remora::remora ALIAS ${target})
endfunction()

# - version script: hidden visibility alone lets weak type information of c10::* out;
# - -z defs: a missing symbol is an error here, not at the first call in somebody's program;
# - -z nodelete: LibTorch cannot be unloaded, and neither can anything that holds its tensors.
function(remora_elf_link_rules target)
  set(map "${PROJECT_SOURCE_DIR}/cmake/remora.map")
  target_link_options(${target} PRIVATE "LINKER:--version-script=${map}" "LINKER:-z,nodelete")
  set_target_properties(${target} PROPERTIES LINK_DEPENDS "${map}")
  # Clang links a sanitizer's run time into the executable only, so it stays undefined here.
  if(NOT ((REMORA_SANITIZE OR REMORA_FUZZ) AND CMAKE_CXX_COMPILER_ID MATCHES "Clang"))
    target_link_options(${target} PRIVATE "LINKER:-z,defs")
  endif()
endfunction()

# remora_install_rpath(<target> <way>): where an installed file looks for libraries. <way> leads
# from its folder to the folder of libremora (".", or "../lib" for programs). LibTorch is searched
# beside libremora and in remora/ below it (where the component `torch` goes, and where a person may
# link a LibTorch of their own). Only an install that need not move (REMORA_RELOCATABLE off) also
# gets the absolute folder of the LibTorch it was built with.
function(remora_install_rpath target way)
  set(origin "$ORIGIN")
  if(APPLE)
    set(origin "@loader_path")
  endif()
  if(NOT way STREQUAL ".")
    string(APPEND origin "/${way}")
  endif()
  set(paths "${origin}" "${origin}/remora")
  if(NOT REMORA_RELOCATABLE)
    list(APPEND paths "${REMORA_TORCH_LIB_DIR}")
  endif()
  set_target_properties(${target} PROPERTIES
    BUILD_RPATH "${REMORA_TORCH_LIB_DIR}"
    INSTALL_RPATH "${paths}"
    INSTALL_RPATH_USE_LINK_PATH OFF)
endfunction()

# remora_install_example(<target>): a program that comes with the library.
function(remora_install_example target)
  file(RELATIVE_PATH way "/${CMAKE_INSTALL_BINDIR}" "/${CMAKE_INSTALL_LIBDIR}")
  remora_install_rpath(${target} "${way}")
  install(TARGETS ${target} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT examples)
endfunction()
