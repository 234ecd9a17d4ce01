// Our programs as functions, for programs that link rules, passes, operators and kernels of their own:
// all flags, help and exit codes are those of ir-opt and ir-run.
//
//   #include <weft/tools.h>
//   int main(int argc, char** argv) { return weft::IrOptMain(argc, argv); }
//
// They are for main alone: they print, take over signals, and are called once, before there are other
// threads. With CMake: find_package(weft COMPONENTS tools) and weft::tools; weft::z3, which is linked
// beside it, proves rules.
#pragma once

namespace weft {

// The exit code (tools/README.md). No exception leaves.
int IrOptMain(int argc, char** argv);
int IrRunMain(int argc, char** argv);

}  // namespace weft
