// --fail-if RULE<N: what a run expects of its rules, for CI.
//
//   merge-transposes<12    the run fails when the rule was applied fewer than 12 times
//
// <, <=, =, >= and > are understood. All passes of the run count together. A rule may be named by an
// alias.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/base/status.h"
#include "passes/pass_manager.h"

namespace weft::tools {

struct RuleBound {
  std::string rule;
  std::string comparison;  // the run fails if: applications `comparison` count
  uint64_t count = 0;
};

// InvalidArgument for bad syntax, and for a rule that is not among `rules` unless there are none.
absl::StatusOr<RuleBound> ParseRuleBound(const std::string& text,
                                         std::span<const std::string> rules);

// CheckFailed, naming every rule that misses what is expected; InvalidArgument as above.
absl::Status CheckRuleBounds(const std::vector<std::string>& bounds,
                             std::span<const std::string> rules,
                             const std::vector<passes::PassReport>& reports);

}  // namespace weft::tools
