// The rules of the rewriting workloads, in the rule language: T, M, and the 100 or 1000 patterns
// over unary ops. None of them asks that what it matches be read by nobody else. `library` is all rules
// that run by default.
#pragma once

#include <string_view>

#include "drr/engine/rule_set.h"

namespace weft::bench {

// The rules a workload is measured with; for cse and dead none.
drr::RewritePatternSet RulesOf(ir::IrContext& context, std::string_view workload);

}  // namespace weft::bench
