// Traits of operations by name.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace weft::ir {

std::string TraitNames(uint32_t traits);  // "pure elementwise"
bool ParseTrait(std::string_view name, uint32_t* trait);

}  // namespace weft::ir
