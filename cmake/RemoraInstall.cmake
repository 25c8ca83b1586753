# Installation in components, so that a package or an image takes only what it needs:
#   runtime      libremora and its licence
#   development  header, pkg-config file, CMake package, the libremora.so link
#   examples     the remora command
#   voice        the voice that the command speaks with when no model is named, where the tree has one
#   docs         guides, and the sources of the examples in C
#   torch        LibTorch's libraries, in remora/ below libremora; part of a plain install only with
#                REMORA_BUNDLE_TORCH, and by `cmake --install <build> --component torch` always
include(CMakePackageConfigHelpers)
remora_abi_version(REMORA_ABI_VERSION)

install(TARGETS remora EXPORT remoraTargets
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT development
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/remora"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development FILES_MATCHING PATTERN "*.h")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT runtime)
install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT docs)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT docs FILES_MATCHING PATTERN "*.md" PATTERN "*.png")

# The folder stays whole: LibTorch's libraries look for each other beside themselves. Python's part
# is left out.
set(exclude_from_plain_install EXCLUDE_FROM_ALL)
if(REMORA_BUNDLE_TORCH)
  set(exclude_from_plain_install "")
  if(EXISTS "${REMORA_TORCH_LIB_DIR}/libtorch_cuda.so")
    message(WARNING "this LibTorch also loads CUDA's own libraries, which are not bundled")
  endif()
endif()
install(DIRECTORY "${REMORA_TORCH_LIB_DIR}/"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/remora" COMPONENT torch ${exclude_from_plain_install}
  FILES_MATCHING PATTERN "lib*"
  PATTERN "libtorch_python*" EXCLUDE
  PATTERN "libshm*" EXCLUDE
  PATTERN "libtorchbind_test*" EXCLUDE
  PATTERN "libjitbackend_test*" EXCLUDE
  PATTERN "libbackend_with_compiler*" EXCLUDE
  PATTERN "libaoti_custom_ops*" EXCLUDE)

# pkg-config. A way from the .pc file's folder survives a move of the prefix, but hides from
# pkg-config that /usr is a system folder: hence the option.
if(REMORA_RELOCATABLE)
  file(RELATIVE_PATH up "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
  string(REGEX REPLACE "/$" "" up "${up}")
  set(REMORA_PC_PREFIX "\${pcfiledir}/${up}")
else()
  set(REMORA_PC_PREFIX "${CMAKE_INSTALL_PREFIX}")
endif()
foreach(dir LIBDIR INCLUDEDIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${dir}}")
    set(REMORA_PC_${dir} "${CMAKE_INSTALL_${dir}}")
  else()
    set(REMORA_PC_${dir} "\${prefix}/${CMAKE_INSTALL_${dir}}")
  endif()
endforeach()
configure_file("${PROJECT_SOURCE_DIR}/pkgconfig/remora.pc.in"
  "${PROJECT_BINARY_DIR}/remora.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/remora.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)

# CMake package. Before 1.0 a minor version may break its users, so it must match.
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/remora")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/remoraConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/remoraConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/remoraConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
    "${PROJECT_BINARY_DIR}/remoraConfig.cmake"
    "${PROJECT_BINARY_DIR}/remoraConfigVersion.cmake"
  DESTINATION "${package_dir}" COMPONENT development)
install(EXPORT remoraTargets NAMESPACE remora:: DESTINATION "${package_dir}" COMPONENT development)

if(PROJECT_IS_TOP_LEVEL)
  include(RemoraPackage)
endif()
