# cmake -DSOURCE=<repository> -DBUILT=<build tree> -DCONFIG= -DGENERATOR= -DCXX= -DREADELF= -P: installs from a build
# tree that has no more than ir-opt, ir-run and the libraries they link, and looks at what was laid down.
set(tree ${BUILT}/after_quickstart)
set(prefix ${tree}/prefix)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}: ${code}\n${out}")
  endif()
  set(out "${out}" PARENT_SCOPE)
endfunction()

function(expect_files folder)
  file(GLOB found RELATIVE ${prefix}/${folder} ${prefix}/${folder}/*)
  if(NOT "${found}" STREQUAL "${ARGN}")
    message(FATAL_ERROR "${folder} has ${found}, expected ${ARGN}")
  endif()
endfunction()

file(REMOVE_RECURSE ${tree})
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${tree} -G ${GENERATOR} -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_CXX_COMPILER=${CXX})
foreach(file bin/ir-opt bin/ir-run libweft_ir.a libweft_drr.a libweft_passes.a libweft_kernels.a libweft_onnx.a
    generated/tools/onnx/proto/model.pb.h)
  get_filename_component(folder ${file} DIRECTORY)
  file(COPY ${BUILT}/${file} DESTINATION ${tree}/${folder})
endforeach()
run(${CMAKE_COMMAND} --install ${tree} --prefix ${prefix})

expect_files(bin ir-opt ir-run)
foreach(program ir-opt ir-run)
  run(${prefix}/bin/${program} --version)
  run(${READELF} --sections --wide ${prefix}/bin/${program})
  if(out MATCHES "\\.debug_|\\.symtab")
    message(FATAL_ERROR "${program} is not stripped:\n${out}")
  endif()
endforeach()
file(GLOB_RECURSE fixtures ${prefix}/*fixtures*)
if(fixtures)
  message(FATAL_ERROR "the component fixtures was installed: ${fixtures}")
endif()

# A project that names no component, and one that names a missing one.
foreach(components "" "COMPONENTS fixtures")
  file(WRITE ${tree}/user/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)\nproject(user CXX)\n"
    "find_package(weft ${components})\nmessage(STATUS \"weft: \${weft_FOUND}, \${weft_fixtures_FOUND}\")\n")
  run(${CMAKE_COMMAND} -S ${tree}/user -B ${tree}/user/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix}
    -DCMAKE_CXX_COMPILER=${CXX})
  if(components STREQUAL "" AND NOT out MATCHES "weft: (1|TRUE), \n")
    message(FATAL_ERROR "find_package(weft) does not find what is installed:\n${out}")
  elseif(components AND NOT out MATCHES "weft: (0|FALSE), \n")
    message(FATAL_ERROR "find_package(weft COMPONENTS fixtures) finds what is not installed:\n${out}")
  endif()
endforeach()
file(REMOVE_RECURSE ${tree})
