// Files that flags name to be written.
#pragma once

#include <string>
#include <vector>

#include "ir/base/status.h"

namespace weft::tools {

// InvalidArgument, with the flag, where `path` is stdout or a folder, lies in a folder that is not there, or
// is one of `others`, which the program reads or writes too, or lies beside one with its weights.
absl::Status CheckOutputPath(const std::string& flag, const std::string& path,
                             const std::vector<std::string>& others);

// Also where neither is there yet.
bool NamesSameFile(const std::string& a, const std::string& b);

}  // namespace weft::tools
