// Where something in this tree was written, for lists that lead from a name to its source.
#pragma once

#include <string>
#include <string_view>

namespace weft::ir {

// `file`, as __FILE__ gives it, from the root of this tree: "passes/layout/nhwc.cc". Files
// outside the tree stay as they are.
std::string SourcePath(std::string_view file);

}  // namespace weft::ir
