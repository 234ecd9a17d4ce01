// The text of passes/superopt/substitutions.weft, which CMake makes part of the library.
#pragma once

#include <string_view>

namespace weft::passes::substitution {

std::string_view RulesText();

}  // namespace weft::passes::substitution
