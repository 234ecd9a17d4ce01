// The files of page/, which the build makes strings of.
#pragma once

#include <string_view>

namespace weft::picture {

std::string_view PageTemplate();
std::string_view PageStyle();
std::string_view PageScript();

}  // namespace weft::picture
