// ir-opt --analyse-rules: what is wrong with the rule sets of passes.
#pragma once

#include <string>
#include <vector>

#include "ir/base/status.h"
#include "passes/pass.h"

namespace weft::tools {

// For every one of `pass_names` that applies rules: how many could be analysed, what was found, each
// with a program on which it happens, and the rules for which there is no such program. `context`
// says which rules are eligible. *findings counts what was found. InvalidArgument for a set of rules
// that does not build.
absl::StatusOr<std::string> AnalyseRulesOf(const std::vector<std::string>& pass_names,
                                           const passes::PassContext& context, size_t* findings);

}  // namespace weft::tools
