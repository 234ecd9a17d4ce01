// Judging rules (passes/verify) as the programs do it: on every CPU, within a time, and not again what
// an earlier run of the same program has judged.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "drr/rule/rule.h"
#include "ir/context.h"
#include "passes/verify/rule_judge.h"

namespace weft {

// A context serves one thread, so that each rule is built in one of its own.
struct RuleToJudge {
  std::string name;
  std::function<drr::BuildResult(ir::IrContext*)> build;  // the context has all dialects
};
// A rule that was read from text, whose text is read again.
RuleToJudge RuleOfText(const drr::Rule& rule);

struct JudgeLimits {
  double seconds_a_rule = passes::JudgeOptions().seconds;
  double seconds = std::numeric_limits<double>::infinity();  // for all of them
  uint64_t seed = passes::JudgeOptions().seed;
  bool prove = false;
  // Asked by the calling thread, now and then; true ends all, and what is left is unjudged.
  std::function<bool()> stop = nullptr;
};

struct JudgedRule {
  passes::RuleJudgement judgement;
  bool remembered = false;  // from an earlier run
  bool late = false;        // unjudged, as the time for all of them was over
};

// In the order of the rules. One that cannot be built is unjudged.
std::vector<JudgedRule> JudgeRules(const std::vector<RuleToJudge>& rules,
                                   const JudgeLimits& limits = {});

// What an earlier run found, with the time that it had.
std::optional<passes::RuleJudgement> RememberedJudgement(const drr::Rule& rule);

}  // namespace weft
