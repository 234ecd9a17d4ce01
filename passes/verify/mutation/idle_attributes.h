// Attributes that say nothing where they stand: the axis of a scale that is one number. Whatever they
// are, the op computes the same, or is not valid.
#pragma once

#include <string>

#include "ir/program.h"

namespace weft::passes {

// Whether the op computes the same with the default of this attribute, if it is valid with both. To add
// one: a line of the table in idle_attributes.cc, and one of idle_attributes_test.cc, which runs both.
bool IsIdle(ir::Operation op, ir::Name attr);

// Makes all that say nothing what they are by default; how many that were not.
int DropIdleAttributes(ir::Program& program);
// Drops them, and what is by default so, and prints the program with all its weights.
std::string TextWithoutIdle(ir::Program& program);

}  // namespace weft::passes
