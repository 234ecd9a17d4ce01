# What `cmake --install` lays down: headers as they are included (include/weft/drr/drr.h), one CMake component per
# library, so that a rule author needs neither XNNPACK nor GoogleTest, and pkg-config files of the same components.
#
#   cmake --install <build> --prefix <prefix>    needs ir-opt, ir-run and weft_c built, and what they link
#   cmake --install <build> --prefix <prefix> --component fixtures    after it: weft::fixtures, which needs GoogleTest
#   cmake --install <build> --prefix <prefix> --component developer    the programs for developers of Weft
#
# CMake's components of an installation are what the Debian packages hold: tools, library (libweft.so.0), python, fixtures and
# development, which is the rest.
include(CMakePackageConfigHelpers)
include(PkgConfig)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
set(weft_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weft)

# The public headers of weft/ lie a level higher: <weft/weft.h> is found without any option where the prefix is /usr.
foreach(header weft.h session.h c_api.h c_rules.h c_session.h c_values.h model_options.h model_size.h judge.h plugin.h
        base/notices.h base/rule_text.h)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/weft/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft/${folder})
endforeach()
install(FILES ${PROJECT_SOURCE_DIR}/tools/tools.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft)
# What the programs print as JSON.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/schemas DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/weft COMPONENT tools
  FILES_MATCHING PATTERN "*.json")
# A program made of weft::tools loads plugins, as ir-opt does.
set(weft_installed_exports "$<INSTALL_PREFIX>/${weft_cmake_dir}/plugin_host.exports")
target_link_options(weft_tools INTERFACE $<INSTALL_INTERFACE:LINKER:--dynamic-list=${weft_installed_exports}>
  "$<INSTALL_INTERFACE:LINKER:--whole-archive,$<TARGET_FILE:weft::ir>,$<TARGET_FILE:weft::drr>,--no-whole-archive>")
install(FILES ${PROJECT_SOURCE_DIR}/tools/cmake/plugin_host.exports DESTINATION ${weft_cmake_dir})
install(TARGETS weft_plugin EXPORT weft-plugin)
install(EXPORT weft-plugin NAMESPACE weft:: FILE weft-plugin-targets.cmake DESTINATION ${weft_cmake_dir})
set_target_properties(weft_tools PROPERTIES WEFT_LINK_WHOLE "weft_ir;weft_drr")  # as above, for pkg-config
weft_pkg_config(plugin "what ir-opt --load loads")

set(weft_about_ir "programs, operators, their text")
set(weft_about_drr "the rule language and its engine")
set(weft_about_passes "passes and the rules in them")
set(weft_about_kernels "kernels and sessions that run them")
set(weft_about_onnx "reading and writing ONNX")
set(weft_about_weft "weft/weft.h: load, optimise, save, run")
set(weft_about_tools "ir-opt and ir-run as functions")
set(weft_about_z3 "proofs of rules")
set(weft_about_fixtures "tests of rules")
foreach(name ir drr passes kernels onnx weft tools z3 fixtures)
  if(TARGET weft_${name})
    get_target_property(folder weft_${name} WEFT_FOLDER)
    set(component)
    if(name STREQUAL "fixtures")
      set(component COMPONENT fixtures EXCLUDE_FROM_ALL)
    endif()
    if(NOT name MATCHES "^(weft|tools)$")
      install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft/${folder}
        ${component} FILES_MATCHING PATTERN "*.h")
    endif()
    install(TARGETS weft_${name} EXPORT weft-${name} ${component})
    install(EXPORT weft-${name} NAMESPACE weft:: FILE weft-${name}-targets.cmake DESTINATION ${weft_cmake_dir}
      ${component})
    weft_pkg_config(${name} "${weft_about_${name}}" ${component})
  endif()
endforeach()
weft_install_stripped(weft_c EXPORT weft-c LIBRARY COMPONENT library NAMELINK_COMPONENT development)
install(EXPORT weft-c NAMESPACE weft:: FILE weft-c-targets.cmake DESTINATION ${weft_cmake_dir})
weft_pkg_config(c "C API")
# Debian's Python finds modules there below /usr and /usr/local; the module looks for libweft.so around itself.
set(WEFT_PYTHON_DIR lib/python3/dist-packages CACHE STRING "Where the Python module goes, below the prefix")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/python/weft DESTINATION ${WEFT_PYTHON_DIR} COMPONENT python
  FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
install(FILES ${PROJECT_BINARY_DIR}/generated/weft/version.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft)
install(FILES ${PROJECT_BINARY_DIR}/generated/tools/onnx/proto/model.pb.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/weft/tools/onnx/proto)

configure_package_config_file(${PROJECT_SOURCE_DIR}/tools/cmake/weft-config.cmake.in weft-config.cmake
  INSTALL_DESTINATION ${weft_cmake_dir})
write_basic_package_version_file(weft-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/weft-config.cmake ${PROJECT_BINARY_DIR}/weft-config-version.cmake
  ${PROJECT_SOURCE_DIR}/tools/cmake/FindXNNPACK.cmake ${PROJECT_SOURCE_DIR}/tools/cmake/FindZ3.cmake DESTINATION ${weft_cmake_dir})

include(Debian)
