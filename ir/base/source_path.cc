#include "ir/base/source_path.h"

namespace weft::ir {

// A build names files from the root of the file system, or (with ccache) from its build folder.
std::string SourcePath(std::string_view file) {
  constexpr std::string_view kRoot = WEFT_SOURCE_DIR "/", kUp = "../";
  if (file.substr(0, kRoot.size()) == kRoot) file.remove_prefix(kRoot.size());
  while (file.substr(0, kUp.size()) == kUp) file.remove_prefix(kUp.size());
  return std::string(file);
}

}  // namespace weft::ir
