// The rules of the rewriting workloads, in the rule language: T, M, and the 100 or 1000 patterns
// over unary ops. None of them asks that what it matches be read by nobody else. `library` is all rules
// that run by default.
#pragma once

#include <string_view>

#include "drr/engine/rule_set.h"

namespace weft::bench {

// Adds the rules that a workload is measured with; for cse and dead none.
void AddRulesOf(std::string_view workload, drr::RewritePatternSet* set);

}  // namespace weft::bench
