#include "ir/base/escape.h"

#include <fmt/format.h>

#include <cctype>

namespace weft::ir {

std::string EscapeControl(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (std::iscntrl(static_cast<unsigned char>(c))) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += c;
    }
  }
  return result;
}

}  // namespace weft::ir
