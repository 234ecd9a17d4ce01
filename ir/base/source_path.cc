#include "ir/base/source_path.h"

namespace weft::ir {

std::string SourcePath(std::string_view file) {
  constexpr std::string_view kHere = __FILE__, kHereFromRoot = "ir/base/source_path.cc";
  constexpr std::string_view kRoot = kHere.substr(0, kHere.size() - kHereFromRoot.size());
  return std::string(file.substr(file.substr(0, kRoot.size()) == kRoot ? kRoot.size() : 0));
}

}  // namespace weft::ir
