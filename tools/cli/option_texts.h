// What each option does, a sentence or two: for manual pages and completions. --help has room for less.
#pragma once

#include <string>
#include <string_view>

namespace weft::tools {

// `option` as it is typed, without its value: "--check", "-o", "IN". Empty: nothing is written of it.
std::string_view OptionText(std::string_view program, std::string_view option);

// Up to its first full stop, colon or semicolon.
std::string FirstPartOf(std::string_view text);

}  // namespace weft::tools
