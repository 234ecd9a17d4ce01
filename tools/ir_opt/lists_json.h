// What ir-opt --list-* print as JSON: tools/schemas has what is in them.
#pragma once

#include <string>
#include <vector>

#include "ir/base/status.h"

namespace weft::tools {

std::string PassesJson();
// Of the rules in the files if there are any, else of all transformations.
absl::StatusOr<std::string> RulesJson(const std::vector<std::string>& files);
// The one of this name, or alias.
absl::StatusOr<std::string> RuleJson(const std::string& name,
                                     const std::vector<std::string>& files);
std::string ConstraintsJson();
std::string OpsJson();

}  // namespace weft::tools
