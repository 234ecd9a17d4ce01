// How many operations of each operator a program has.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "ir/program.h"

namespace weft {

// By name; with those in regions, without the module itself.
std::map<std::string, size_t> CountOperators(ir::Program& program);

}  // namespace weft
