# Toolchain of the preset arm64: Debian's cross compiler, the libraries that `tools/scripts/setup --arm64` unpacks, and
# qemu-user, with which ctest and the tests' discovery run what was built.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

get_filename_component(weft_arm64_root ${CMAKE_CURRENT_LIST_DIR}/../../build/arm64-root ABSOLUTE)
if(NOT EXISTS ${weft_arm64_root}/.packages)
  message(FATAL_ERROR "no libraries for arm64; tools/scripts/setup --arm64 fetches them")
endif()
set(CMAKE_FIND_ROOT_PATH ${weft_arm64_root})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
# Where the linker looks for what those libraries need themselves.
set(CMAKE_EXE_LINKER_FLAGS_INIT -Wl,-rpath-link,${weft_arm64_root}/usr/lib/aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64;-L;${weft_arm64_root})
