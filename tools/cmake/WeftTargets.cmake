# weft_library, weft_c_library, weft_programs_library, weft_program and what they are made with: targets from folders. A
# folder without a .cc makes no target, and a target that does not exist (yet) is skipped where it is linked.

# Links those of `libraries` which exist; names with :: and those of foreign targets must exist.
function(weft_link target scope)
  foreach(library IN LISTS ARGN)
    if(NOT library MATCHES "^weft_" OR TARGET ${library})
      target_link_libraries(${target} ${scope} ${library})
    endif()
  endforeach()
endfunction()

# What every compiled target of ours shares.
function(weft_compile_options target)
  # g++ warns of fields that designated initialisers leave to their defaults, which is what those are for.
  # No program of ours replaces a function of ours at load time, so g++ may inline across them despite -fPIC.
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wno-missing-field-initializers -fno-semantic-interposition)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
endfunction()

# With WEFT_PRECOMPILED_HEADERS: what most sources include is read once per target, not once per source. Sources include what
# they need all the same (clang-tidy compiles them without); those with flags of their own read their headers themselves.
function(weft_precompile_headers target)
  if(NOT WEFT_PRECOMPILED_HEADERS)
    return()
  endif()
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <cmath> <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <random> <set> <span>
    <sstream> <string> <string_view> <tuple> <unordered_map> <utility> <variant> <vector>
    <absl/container/flat_hash_map.h> <absl/container/inlined_vector.h> <absl/status/statusor.h> <fmt/format.h>
    "${PROJECT_SOURCE_DIR}/ir/builder.h" "${PROJECT_SOURCE_DIR}/ir/program.h" "${PROJECT_SOURCE_DIR}/ir/rewriter.h"
    "${PROJECT_SOURCE_DIR}/ir/walk.h" ${ARGN})
endfunction()

# weft_library(<name> <folder> [AND <folder>...] [EXCEPT <folder>] [SMALL <folder>...] [PUBLIC ...] [PRIVATE ...]):
# weft_<name>, alias weft::<name>, from all .cc below the folders but main.cc, which is a program's. What is below a folder
# of SMALL is compiled to be small rather than fast, as objects of weft_<name>_small.
function(weft_library name folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "EXCEPT" "AND;SMALL;PUBLIC;PRIVATE")
  list(TRANSFORM arg_AND PREPEND ${PROJECT_SOURCE_DIR}/)
  list(TRANSFORM arg_AND APPEND /*.cc)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cc ${arg_AND})
  list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
  if(arg_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/${arg_EXCEPT}/")
  endif()
  if(NOT sources)
    return()
  endif()
  set(small)
  foreach(small_folder IN LISTS arg_SMALL)
    set(below ${sources})
    list(FILTER below INCLUDE REGEX "^${PROJECT_SOURCE_DIR}/${small_folder}/")
    list(REMOVE_ITEM sources ${below})
    list(APPEND small ${below})
  endforeach()
  add_library(weft_${name} ${sources})
  add_library(weft::${name} ALIAS weft_${name})
  set_target_properties(weft_${name} PROPERTIES EXPORT_NAME ${name} WEFT_FOLDER ${folder})
  target_compile_features(weft_${name} PUBLIC cxx_std_20)
  target_include_directories(weft_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/weft>)
  weft_compile_options(weft_${name})
  weft_link(weft_${name} PUBLIC ${arg_PUBLIC})
  weft_link(weft_${name} PRIVATE ${arg_PRIVATE})
  weft_precompile_headers(weft_${name})
  if(small)
    add_library(weft_${name}_small OBJECT ${small})
    target_compile_features(weft_${name}_small PRIVATE cxx_std_20)
    target_compile_options(weft_${name}_small PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-Os>)
    weft_compile_options(weft_${name}_small)
    weft_link(weft_${name}_small PRIVATE ${arg_PUBLIC} ${arg_PRIVATE})
    weft_precompile_headers(weft_${name}_small)
    target_sources(weft_${name} PRIVATE $<TARGET_OBJECTS:weft_${name}_small>)
  endif()
endfunction()

# weft_protobuf(<name> <file>...): C++ from .proto files, below generated/ in the build folder, as sources of weft_<name>.
# The target weft-generated makes such sources and compiles nothing.
function(weft_protobuf name)
  if(NOT TARGET protobuf::protoc)
    message(FATAL_ERROR "no protoc; tools/scripts/setup installs it")
  endif()
  set(folder ${PROJECT_BINARY_DIR}/generated)
  set(generated)
  foreach(file IN LISTS ARGN)
    string(REGEX REPLACE "\\.proto$" ".pb" stem ${folder}/${file})
    add_custom_command(OUTPUT ${stem}.cc ${stem}.h
      COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR} --cpp_out=${folder} ${PROJECT_SOURCE_DIR}/${file}
      DEPENDS ${PROJECT_SOURCE_DIR}/${file}
      VERBATIM)
    list(APPEND generated ${stem}.cc ${stem}.h)
  endforeach()
  set_source_files_properties(${generated} PROPERTIES COMPILE_OPTIONS -w SKIP_PRECOMPILE_HEADERS ON)  # not ours to mend
  target_sources(weft_${name} PRIVATE ${generated})
  add_custom_target(weft-generated-${name} DEPENDS ${generated})
  add_dependencies(weft_${name} weft-generated-${name})
  if(TARGET weft_${name}_small)
    add_dependencies(weft_${name}_small weft-generated-${name})
  endif()
  if(NOT TARGET weft-generated)
    add_custom_target(weft-generated)
  endif()
  add_dependencies(weft-generated weft-generated-${name})
endfunction()

# Makes one object of each of these static libraries, so that who links anything of one has all of it, with what registers
# itself before main(), in any build system. (Sections of functions that are in several objects are there once.)
function(weft_one_object)
  foreach(name IN LISTS ARGN)
    get_target_property(type weft_${name} TYPE)
    if(type STREQUAL "STATIC_LIBRARY")
      add_custom_command(TARGET weft_${name} POST_BUILD
        COMMAND ${CMAKE_CXX_COMPILER} -r -nostdlib -o weft_${name}.o
                "-Wl,--whole-archive,$<TARGET_FILE:weft_${name}>,--no-whole-archive"
        COMMAND ${CMAKE_COMMAND} -E rm $<TARGET_FILE:weft_${name}>
        COMMAND ${CMAKE_AR} qcs $<TARGET_FILE:weft_${name}> weft_${name}.o
        COMMAND ${CMAKE_COMMAND} -E rm weft_${name}.o
        VERBATIM)
    endif()
  endforeach()
endfunction()

# Makes every program that links one of these static libraries take all of its objects, whether it refers to them or not.
function(weft_link_whole)
  foreach(name IN LISTS ARGN)
    if(TARGET weft_${name})
      # weft::<name> exists here and in an installed package, so the expression can be exported as it stands.
      target_link_options(weft_${name} INTERFACE
        "LINKER:--whole-archive,$<TARGET_FILE:weft::${name}>,--no-whole-archive")
      set_target_properties(weft_${name} PROPERTIES WEFT_LINK_WHOLE weft_${name})  # for pkg-config
    endif()
  endforeach()
endfunction()

# weft_shared_library(<target>): its relative relocations take a twentieth of the room where the linker can (on x86-64 since
# binutils 2.38, on arm64 since 2.43), and glibc 2.36 reads them.
include(CheckLinkerFlag)
check_linker_flag(CXX LINKER:-z,pack-relative-relocs WEFT_PACKS_RELOCATIONS)
function(weft_shared_library target)
  if(WEFT_PACKS_RELOCATIONS)
    target_link_options(${target} PRIVATE LINKER:-z,pack-relative-relocs)
  endif()
endfunction()

# weft_c_library(<folder> [library...]): weft_c, alias weft::c, is the shared library libweft.so, which exports what the
# folder's libweft.map names and nothing else of the static libraries in it.
function(weft_c_library folder)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cc)
  set(map ${PROJECT_SOURCE_DIR}/${folder}/libweft.map)
  add_library(weft_c SHARED ${sources})
  add_library(weft::c ALIAS weft_c)
  set_target_properties(weft_c PROPERTIES EXPORT_NAME c OUTPUT_NAME weft VERSION ${PROJECT_VERSION} SOVERSION 0
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON LINK_DEPENDS ${map})
  target_compile_features(weft_c PRIVATE cxx_std_20)
  target_include_directories(weft_c INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  weft_compile_options(weft_c)
  weft_shared_library(weft_c)
  target_link_options(weft_c PRIVATE LINKER:--version-script=${map})
  weft_link(weft_c PRIVATE ${ARGN})
endfunction()

# weft_install_stripped(<target> [argument of install(TARGETS)...]): what `cmake --install --strip` does for everything,
# for this target.
function(weft_install_stripped target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "EXCLUDE_FROM_ALL" "COMPONENT" "")
  set(component)
  if(arg_COMPONENT)
    set(component COMPONENT ${arg_COMPONENT})
  endif()
  if(arg_EXCLUDE_FROM_ALL)
    list(APPEND component EXCLUDE_FROM_ALL)
  endif()
  install(CODE "set(weft_strip \"\${CMAKE_INSTALL_DO_STRIP}\")\nset(CMAKE_INSTALL_DO_STRIP TRUE)" ${component})
  install(TARGETS ${target} ${ARGN})
  install(CODE "set(CMAKE_INSTALL_DO_STRIP \"\${weft_strip}\")" ${component})
endfunction()

# weft_plugin_interface(): weft_plugin, alias weft::plugin, is what a plugin is compiled with; it links none of ours, which
# the program that loads it has.
function(weft_plugin_interface)
  add_library(weft_plugin INTERFACE)
  add_library(weft::plugin ALIAS weft_plugin)
  set_target_properties(weft_plugin PROPERTIES EXPORT_NAME plugin)
  target_compile_features(weft_plugin INTERFACE cxx_std_20)
  # What is defined inline, in headers of ours, is to be the program's own.
  target_compile_options(weft_plugin INTERFACE -fvisibility=default)
  target_include_directories(weft_plugin INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/weft>)
  target_link_libraries(weft_plugin INTERFACE absl::status absl::statusor)
endfunction()

# weft_programs_library(): weft_programs is what ir-opt and ir-run are made of, once for both: a shared library of their own,
# libweft-programs.so, beside the system's libraries. It exports what plugins need of ours, and holds all of ir and drr.
# What is done before main (faults.cc) is part of each program: the linker takes it for programs alone.
function(weft_programs_library)
  add_library(weft_programs SHARED $<FILTER:$<TARGET_OBJECTS:weft_tools>,EXCLUDE,/faults\\.cc>)
  # The list is that of programs which link weft_tools themselves, as the script of a library.
  file(READ ${PROJECT_SOURCE_DIR}/tools/cmake/plugin_host.exports exports)
  string(REGEX REPLACE "{(.*)};" "{ global: \\1 local: *; };" script "${exports}")
  file(CONFIGURE OUTPUT plugin_host.map CONTENT "${script}" @ONLY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/cmake/plugin_host.exports)
  set(map ${CMAKE_CURRENT_BINARY_DIR}/plugin_host.map)
  set_target_properties(weft_programs PROPERTIES OUTPUT_NAME weft-programs LINK_DEPENDS ${map}
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/weft)
  weft_shared_library(weft_programs)
  # Functions of ours call each other directly; data may be a plugin's too.
  target_link_options(weft_programs PRIVATE LINKER:--version-script=${map} LINKER:-Bsymbolic
    "LINKER:--whole-archive,$<TARGET_FILE:weft::ir>,$<TARGET_FILE:weft::drr>,--no-whole-archive")
  weft_link(weft_programs PRIVATE weft_weft weft_onnx weft_passes weft_kernels fmt::fmt ${weft_absl} ${CMAKE_DL_LIBS})
  weft_install_stripped(weft_programs LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/weft COMPONENT tools)
endfunction()

# weft_page(<name> <folder>): page.html, style.css and the scripts of the folder, in the order that page.html names them,
# become strings of weft_<name>.
function(weft_page name folder)
  set(folder ${PROJECT_SOURCE_DIR}/${folder})
  file(READ ${folder}/page.html weft_page_template)
  file(READ ${folder}/style.css weft_page_style)
  set(files ${folder}/page.html ${folder}/style.css)
  string(REGEX MATCHALL "[a-z_]+\\.js" scripts "${weft_page_template}")
  foreach(script IN LISTS scripts)
    file(READ ${folder}/${script} text)
    string(APPEND weft_page_script "${text}")
    list(APPEND files ${folder}/${script})
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  configure_file(${PROJECT_SOURCE_DIR}/tools/cmake/page.cc.in ${PROJECT_BINARY_DIR}/generated/weft/picture/page.cc @ONLY)
  target_sources(weft_${name} PRIVATE ${PROJECT_BINARY_DIR}/generated/weft/picture/page.cc)
endfunction()

# weft_program(<name> <source>): an executable of weft_programs, installed without its symbols. It finds the library in the
# build tree as it does when it is installed, wherever that is.
function(weft_program name source)
  add_executable(${name} ${PROJECT_SOURCE_DIR}/${source} $<FILTER:$<TARGET_OBJECTS:weft_tools>,INCLUDE,/faults\\.cc>)
  weft_compile_options(${name})
  weft_link(${name} PRIVATE weft_programs)
  file(RELATIVE_PATH library /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR}/weft)
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN/${library}" BUILD_WITH_INSTALL_RPATH ON)
  weft_install_stripped(${name} RUNTIME COMPONENT tools)
  weft_documents(${name})
endfunction()

# weft_documents(<program>): its manual page and completions, which it prints itself, made as soon as it is linked.
function(weft_documents program)
  set(folder ${PROJECT_BINARY_DIR}/documents)
  set(commands)
  set(files)
  foreach(kind man bash zsh fish)
    list(APPEND commands COMMAND ${program} --generate ${kind} > ${folder}/${program}.${kind})
    list(APPEND files ${folder}/${program}.${kind})
  endforeach()
  add_custom_command(TARGET ${program} POST_BUILD COMMAND ${CMAKE_COMMAND} -E make_directory ${folder} ${commands}
    BYPRODUCTS ${files})
  install(FILES ${folder}/${program}.man DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 RENAME ${program}.1 COMPONENT tools)
  install(FILES ${folder}/${program}.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
    RENAME ${program} COMPONENT tools)
  install(FILES ${folder}/${program}.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions
    RENAME _${program} COMPONENT tools)
  install(FILES ${folder}/${program}.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
    RENAME ${program}.fish COMPONENT tools)
endfunction()

# weft_developer_program(<name> <folder>): one for developers of Weft, which links weft_tools. It is installed only with
# `cmake --install <build> --component developer`, for which it must be built.
function(weft_developer_program name folder)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cc)
  add_executable(${name} ${sources})
  weft_compile_options(${name})
  weft_link(${name} PRIVATE weft_tools weft_onnx weft_passes weft_kernels fmt::fmt ${weft_absl})
  weft_install_stripped(${name} COMPONENT developer EXCLUDE_FROM_ALL)
endfunction()
