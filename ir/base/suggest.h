// What was meant by a name that nothing has.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace weft::ir {

// "; did you mean 'x'?" for the nearest candidate, or nothing when none is near.
std::string Suggest(std::string_view name, const std::vector<std::string_view>& candidates);

}  // namespace weft::ir
