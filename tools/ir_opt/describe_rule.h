// ir-opt --list-rules NAME: what one rule is and where its source and its tests are.
#pragma once

#include <string>
#include <vector>

#include "ir/base/status.h"

namespace weft::tools {

// One line per fact: group, numeric class, when it runs, what becomes what, file:line, the folder of
// its golden programs and the command that runs them. `name` is a rule of the files if there are
// any, else a rule or pass of the library; InvalidArgument with a suggestion for any other.
absl::StatusOr<std::string> DescribeRule(const std::string& name,
                                         const std::vector<std::string>& files);

}  // namespace weft::tools
