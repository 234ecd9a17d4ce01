// Ops with regions, made independent of the blocks around them: what a region reads from outside
// becomes an operand of the op, behind its own, and an argument of each of its regions, behind theirs.
// Planning then treats such an op as any other: its operands are all that it reads.
#pragma once

#include "ir/base/status.h"
#include "ir/program.h"

namespace weft::kernels {

// Of such an op: how many operands were added (int).
inline constexpr char kCaptured[] = "runtime.captured";

// Does so for the ops of the program's body that have named regions (If, Loop, Scan). Not for those
// inside regions: they are planned when the region is (kernels/runtime/region_program.h).
// InvalidArgument for one whose regions are not what it needs.
absl::Status IsolateRegions(ir::Program& program);

// How many operands of `op` were added.
uint32_t NumCaptured(ir::Operation op);

}  // namespace weft::kernels
