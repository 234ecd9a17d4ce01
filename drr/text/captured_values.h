// Nodes of a program by name, for rules that take an input from one.
#pragma once

#include <string_view>

#include "ir/program.h"

namespace weft::drr::text {

// Result `index` (negative: from the end) of the last op with this location, else the input of the
// program with this name; null when there is none. Takes time linear in the program.
ir::Value FindOutside(ir::Program& program, std::string_view node, int index);

}  // namespace weft::drr::text
