# `cpack -G TGZ` makes one archive that unpacks anywhere, `cpack -G DEB` one Debian package for each
# component. Only a relocatable build is packaged: another one would carry a path of this machine.
set(CPACK_PACKAGE_NAME remora)
set(CPACK_PACKAGE_VENDOR "The remora authors")
set(CPACK_PACKAGE_CONTACT "The remora authors <remora@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_GENERATOR TGZ DEB)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_COMPONENTS_ALL runtime development examples docs)
if(REMORA_BUNDLE_TORCH)
  list(APPEND CPACK_COMPONENTS_ALL torch)
endif()
if(NOT REMORA_RELOCATABLE)
  # CPack reads this file first, and stops in it.
  file(WRITE "${PROJECT_BINARY_DIR}/not_relocatable.cmake"
    "message(FATAL_ERROR \"packages need -DREMORA_RELOCATABLE=ON (preset release)\")\n")
  set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_BINARY_DIR}/not_relocatable.cmake")
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION sound)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME "libremora${REMORA_ABI_VERSION}")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
# LibTorch is brought by the user or by libremora-torch: no package of the distribution fits.
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${REMORA_TORCH_LIB_DIR}")
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SUGGESTS libremora-torch)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/triggers")
file(WRITE "${PROJECT_BINARY_DIR}/triggers" "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libremora-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libremora${REMORA_ABI_VERSION} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_EXAMPLES_PACKAGE_NAME remora)
set(CPACK_DEBIAN_EXAMPLES_PACKAGE_DEPENDS "libremora${REMORA_ABI_VERSION} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DOCS_PACKAGE_NAME remora-doc)
set(CPACK_DEBIAN_DOCS_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_TORCH_PACKAGE_NAME libremora-torch)

include(CPack)
