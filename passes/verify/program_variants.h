// Programs that differ from one that is given in a few places: an attribute, an op, an operand, a size,
// the numbers of a constant; what is alike may change alike. Where a rule nearly applies, some of them
// show what it does there.
#pragma once

#include <memory>
#include <span>

#include "ir/program.h"
#include "passes/verify/assignment.h"

namespace weft::passes {

// One of these at random; null where an op refuses what it is given then, and of programs with regions.
// Its types are inferred anew. With a `focus` of values of the program it is mostly the defining op of one of
// these that changes, a constant that this reads, or the type of an input.
std::unique_ptr<ir::Program> VariantOf(ir::Program& program, Draw& draw,
                                       std::span<const ir::Value> focus = {});

}  // namespace weft::passes
