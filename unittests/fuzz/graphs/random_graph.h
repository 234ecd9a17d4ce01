// Valid random programs: operators of every dialect that has kernels, on operands that they accept,
// with values that several read, near-patterns of rules (golden programs, some of them damaged,
// spliced into the rest) and several outputs. Those whose seed is a multiple of four hold If, Loop and
// Scan too, with all of that inside of them.
//
//   ir::IrContext context;  // all dialects loaded
//   std::unique_ptr<ir::Program> program = MakeRandomGraph(context, {.seed = 7});
//
// All types are static. The program runs on the reference kernels with tame inputs: every operation
// was computed when it was added, and those that fail were left out.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ir/program.h"

namespace weft::fuzz {

struct GraphOptions {
  uint64_t seed = 1;
  int steps = 16;                // operators or golden programs that are added
  std::string golden_root = {};  // golden programs are looked for below it; empty: none
};

std::unique_ptr<ir::Program> MakeRandomGraph(ir::IrContext& context, const GraphOptions& options);

}  // namespace weft::fuzz
