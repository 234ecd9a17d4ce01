// Values of a program as people name them: by name, or %N as its text numbers them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program.h"

namespace weft {

// Arguments of the module, then what operations make, those of regions too, in the order of the text.
std::vector<ir::Value> ValuesOf(ir::Program& program);
// The first of this name, else the input or output of this name; null when there is none.
ir::Value ValueOfName(ir::Program& program, std::string_view name);
// All names that ValueOfName() knows.
std::vector<std::string> ValueNames(ir::Program& program);

// The number of "%12", if it is one.
std::optional<uint32_t> ValueNumberOf(std::string_view name);
// Null when there is none of this number.
ir::Value ValueOfNumber(ir::Program& program, uint32_t number);

}  // namespace weft
