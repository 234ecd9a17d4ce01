// Text of others in a message of one line.
#pragma once

#include <string>
#include <string_view>

namespace weft::ir {

// Control characters as \xNN; all else as it is.
std::string EscapeControl(std::string_view text);

}  // namespace weft::ir
