// A hash of what a program consists of, whatever the order of independent operations and whatever
// the names: to see in a search that a program was there before. Within one context and run only.
#pragma once

#include <cstdint>

#include "ir/program.h"

namespace weft::passes {

uint64_t ProgramHash(ir::Program& program);

}  // namespace weft::passes
