// What happens to the rules of --rules-file before they are applied: they are judged, so that none is
// that changes what a program computes. --trust-rules and --require-judged say otherwise.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "drr/rule/rule.h"
#include "ir/base/status.h"
#include "tools/cli/cli_fwd.h"

namespace weft::tools {

struct RuleTrust {
  bool trust = false;           // apply them without a judgement
  bool require_judged = false;  // an unjudged rule is an error
};

// Both, each on the line of the option added before it.
void AddRuleTrustFlags(CLI::App& app, RuleTrust* trust);
absl::Status CheckRuleTrust(const RuleTrust& trust);

// For --stats.
using RuleCounts = std::vector<std::pair<std::string, uint64_t>>;

// Judges the rules, 2 s each and 30 s those of one file, unless an earlier run has. CheckFailed when
// one is refuted, its counterexample being on stderr; an unjudged one is a warning there of `tool`, or
// CheckFailed where all must be judged.
absl::StatusOr<RuleCounts> JudgeBeforeUse(const std::vector<const drr::Rule*>& rules,
                                          const RuleTrust& trust, const std::string& tool);

}  // namespace weft::tools
