// What happens to the rules of files before they are applied: they are judged, so that none is that
// changes what a program computes, unless the user says otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "drr/rule/rule.h"
#include "ir/base/status.h"
#include "weft/base/notices.h"

namespace weft {

struct RuleTrust {
  bool trust = false;           // apply them without a judgement
  bool require_judged = false;  // an unjudged rule is an error
};

// For statistics.
using RuleCounts = std::vector<std::pair<std::string, uint64_t>>;

// Judges the rules, 2 s each and 30 s for every file all together, unless an earlier run has. CheckFailed when
// one is refuted, with its counterexample among the notices; an unjudged one is a warning, or
// CheckFailed where all must be judged. Cancelled where `stop`, which the calling thread asks, says so.
absl::StatusOr<RuleCounts> JudgeBeforeUse(const std::vector<const drr::Rule*>& rules,
                                          const RuleTrust& trust, const Notices& notices,
                                          const std::function<bool()>& stop);

}  // namespace weft
