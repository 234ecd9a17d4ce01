// The rules of files and texts as a pass: it runs them to the end, and then numbers the names that the files
// give to new nodes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "drr/rule/rule.h"
#include "ir/base/status.h"
#include "passes/pass.h"
#include "weft/base/rule_text.h"
#include "weft/optimize/rule_trust.h"

namespace weft {

// The rules for `program`, from all the files and texts. Warnings, and all mistakes but the one that
// is returned, are notices.
absl::StatusOr<std::vector<std::unique_ptr<drr::Rule>>> LoadRules(
    const std::vector<std::string>& paths, const std::vector<RuleText>& texts, ir::Program& program,
    const Notices& notices);
inline absl::StatusOr<std::vector<std::unique_ptr<drr::Rule>>> LoadRuleFiles(
    const std::vector<std::string>& paths, ir::Program& program, const Notices& notices) {
  return LoadRules(paths, {}, program, notices);
}

// `counts` are for statistics.
std::unique_ptr<passes::Pass> MakeRuleFilePass(std::vector<std::unique_ptr<drr::Rule>> rules,
                                               RuleCounts counts = {});

}  // namespace weft
