// ir-opt --analyse-rules: what is wrong with the rule sets of passes.
#pragma once

#include <string>
#include <vector>

#include "ir/base/status.h"
#include "tools/cli/pass_flags.h"

namespace weft::tools {

// For the rules of --rules-file and every one of `pass_names` that applies rules: how many could be
// analysed, what was found, each with a program on which it happens, and the rules for which there is
// no such program. `flags` say which rules are eligible. *findings counts what was found.
absl::StatusOr<std::string> AnalyseRulesOf(const std::vector<std::string>& pass_names,
                                           const PassFlags& flags, size_t* findings);

}  // namespace weft::tools
