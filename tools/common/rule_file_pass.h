// The rules of a file as a pass: it runs them to the end, and then numbers the names that the file
// gives to new nodes.
#pragma once

#include <memory>
#include <string>

#include "ir/base/status.h"
#include "passes/pass.h"

namespace weft::tools {

// Reads the rules for `program`. Warnings, and all mistakes but the one that is returned, go to
// stderr.
absl::StatusOr<std::unique_ptr<passes::Pass>> LoadRuleFilePass(const std::string& path,
                                                               ir::Program& program);

}  // namespace weft::tools
