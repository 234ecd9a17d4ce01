# Debian packages, by CPack, from a build folder in which ir-opt, ir-run, weft_c and weft_fixtures are built:
#
#   tools/dev package                                              builds what they hold, and them, into build/packages
#   cpack --config build/release/CPackConfig.cmake -B <folder>     from what is built
#
#   weft-tools      ir-opt and ir-run, with the library that both are made of
#   libweft0        libweft.so.0, the C API
#   libweft-dev     headers, archives, CMake and pkg-config files
#   python3-weft    the module weft
#
# The files in tools/cmake/debian/ go into them: what has no place in other installations.
set(weft_debian ${PROJECT_SOURCE_DIR}/tools/cmake/debian)
set(weft_debian_out ${PROJECT_BINARY_DIR}/debian)

# 0.1.0-1~deb12: packages of a newer release of Debian replace those of an older one.
set(weft_debian_release "")
if(EXISTS /etc/os-release)
  file(STRINGS /etc/os-release lines REGEX "^VERSION_ID=")
  if(lines MATCHES "([0-9]+)")
    set(weft_debian_release ~deb${CMAKE_MATCH_1})
  endif()
endif()
set(CPACK_DEBIAN_PACKAGE_RELEASE 1${weft_debian_release})

# What a reader of a package looks for first: what changed, for users and in the package. Compressed as Debian wants it.
find_program(WEFT_GZIP gzip)
string(TIMESTAMP weft_now "%a, %d %b %Y %H:%M:%S +0000" UTC)  # or SOURCE_DATE_EPOCH
configure_file(${weft_debian}/changelog.in ${weft_debian_out}/changelog.Debian @ONLY)
configure_file(${PROJECT_SOURCE_DIR}/CHANGES.md ${weft_debian_out}/changelog COPYONLY)
if(WEFT_GZIP)
  foreach(changes changelog.Debian changelog)
    execute_process(COMMAND ${WEFT_GZIP} -9n OUTPUT_FILE ${weft_debian_out}/${changes}.gz
      INPUT_FILE ${weft_debian_out}/${changes} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endif()

# weft_debian_package(<component> <package> <section> <summary> <description>)
macro(weft_debian_package component package section summary description)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${package})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_DESCRIPTION "${summary}\n${description}")
  set(CPACK_DEBIAN_${upper}_FILE_NAME DEB-DEFAULT)
  set(CPACK_DEBIAN_${upper}_PACKAGE_CONTROL_STRICT_PERMISSION ON)
  # Of the packages alone: without EXCLUDE_FROM_ALL, cmake --install would lay them, too.
  foreach(file ${weft_debian}/copyright ${weft_debian_out}/changelog.Debian.gz ${weft_debian_out}/changelog.gz)
    install(FILES ${file} DESTINATION share/doc/${package} COMPONENT ${component} EXCLUDE_FROM_ALL)
  endforeach()
  if(EXISTS ${weft_debian}/${package}.overrides)
    install(FILES ${weft_debian}/${package}.overrides DESTINATION share/lintian/overrides RENAME ${package}
      COMPONENT ${component} EXCLUDE_FROM_ALL)
  endif()
endmacro()

set(weft_about "Weft rewrites graphs of machine learning by rules: it simplifies ONNX\nmodels, fuses their operations, and \
runs them on kernels of its own and\nof XNNPACK.\n")
weft_debian_package(tools weft-tools utils "optimiser and runner of ONNX models"
  "${weft_about}This package has the programs: ir-opt, which optimises models and checks\nrules, and ir-run, which runs \
models.")
weft_debian_package(library libweft0 libs "optimiser and runtime of ONNX models - C library"
  "${weft_about}This package has the shared library of the C API.")
weft_debian_package(development libweft-dev libdevel "optimiser and runtime of ONNX models - development files"
  "${weft_about}This package has the headers of the C and C++ APIs, static libraries of the\nlatter, and files for CMake \
and pkg-config.")
weft_debian_package(python python3-weft python "optimiser and runtime of ONNX models - Python module"
  "${weft_about}This package has the module weft for Python 3.")

# Archives go into the package without lines for debuggers: a fifth of the size.
install(CODE "
  file(GLOB archives \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/libweft_*.a\")
  execute_process(COMMAND ${CMAKE_STRIP} --strip-debug --enable-deterministic-archives \${archives}
    COMMAND_ERROR_IS_FATAL ANY)" COMPONENT fixtures EXCLUDE_FROM_ALL)

if(WEFT_GZIP)
  install(CODE "
    file(GLOB pages \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1/*.1\")
    execute_process(COMMAND ${WEFT_GZIP} -9nf \${pages} COMMAND_ERROR_IS_FATAL ANY)" COMPONENT tools EXCLUDE_FROM_ALL)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_COMPONENTS_ALL tools library development python)
if(TARGET weft_fixtures)
  list(APPEND CPACK_COMPONENTS_ALL fixtures)
endif()
set(CPACK_COMPONENT_DEVELOPMENT_GROUP development)
set(CPACK_COMPONENT_FIXTURES_GROUP development)
set(CPACK_PACKAGE_NAME weft)
set(CPACK_PACKAGE_VENDOR "Weft authors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
  WORLD_EXECUTE)
set(CPACK_DEBIAN_PACKAGE_SOURCE weft)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "Weft authors <weft@example.org>")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_THREADS 0)  # as many as there are CPUs

set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What other packages that link libweft.so.0 depend on: symbols are added, never taken away.
file(WRITE ${weft_debian_out}/shlibs "libweft 0 libweft0 (>= ${PROJECT_VERSION})\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA "${weft_debian}/triggers;${weft_debian_out}/shlibs")
set(weft_same "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libweft0 ${weft_same}, libabsl-dev, libfmt-dev, libxnnpack-dev, libpthreadpool-dev, libprotobuf-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS "weft-tools ${weft_same}")  # which loads plugins of this version alone
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "libgtest-dev, libz3-dev")
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.10), python3-numpy, libweft0 (>= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS python3-onnx)
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA "${weft_debian}/postinst;${weft_debian}/prerm")
include(CPack)
cpack_add_component_group(development)
