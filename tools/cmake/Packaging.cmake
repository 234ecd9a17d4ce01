# What `cmake --install` lays down: headers as they are included (include/weft/drr/drr.h), one CMake component per
# library, so that a rule author needs neither XNNPACK nor GoogleTest, a pkg-config file, and a .deb by CPack.
include(CMakePackageConfigHelpers)
set(weft_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)

set(weft_components)
foreach(name ir drr passes kernels onnx fixtures)
  if(TARGET weft_${name})
    get_target_property(folder weft_${name} WEFT_FOLDER)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft/${folder}
      FILES_MATCHING PATTERN "*.h")
    install(TARGETS weft_${name} EXPORT weft-${name})
    install(EXPORT weft-${name} NAMESPACE weft:: FILE weft-${name}-targets.cmake DESTINATION ${weft_cmake_dir})
    list(APPEND weft_components ${name})
  endif()
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/generated/ir/base/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft/ir/base)

configure_package_config_file(${PROJECT_SOURCE_DIR}/tools/cmake/weft-config.cmake.in weft-config.cmake
  INSTALL_DESTINATION ${weft_cmake_dir})
write_basic_package_version_file(weft-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weft-config.cmake ${PROJECT_BINARY_DIR}/weft-config-version.cmake
  ${PROJECT_SOURCE_DIR}/tools/cmake/FindXNNPACK.cmake DESTINATION ${weft_cmake_dir})

# pkg-config names of the Abseil parts that our archives use.
string(REPLACE "absl::" "absl_" weft_pc_requires "absl::status;absl::statusor;${weft_absl}")
list(JOIN weft_pc_requires " " weft_pc_requires)
file(RELATIVE_PATH weft_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)  # so that a moved tree still works
configure_file(tools/cmake/weft.pc.in weft.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/weft.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME weft)
set(CPACK_PACKAGE_VENDOR "Weft authors")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "Weft authors <weft@example.org>")
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libabsl-dev, libfmt-dev")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libxnnpack-dev, libpthreadpool-dev, libgtest-dev, libprotobuf-dev, libonnx-dev")
include(CPack)
