// What is wrong with a set of rules, each finding with a program on which it happens.
//
//   RuleAnalysis analysis = AnalyseRules(context, patterns, {});
//   for (const RuleFinding& f : analysis.findings) ... f.rules, f.what, f.witness
//
// Programs are made from the rules' own source patterns (passes/verify/rule_instances.h), or given by the
// caller. Every rule alone and every pair of rules where one reads what the other makes is run on
// them by the greedy driver. A finding is a fact about its witness, which has been run; no finding
// is no proof that there is nothing. A rule for which no program was found is listed as such.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "drr/engine/rule_set.h"
#include "ir/program.h"
#include "passes/pass.h"
#include "passes/verify/rule_instances.h"

namespace weft::passes {

struct RuleFinding {
  enum Kind {
    kUndo,      // `rules` take the program round in a circle
    kGrowth,    // `rules` make the program larger without end
    kEndless,   // `rules` never end, though the program neither grows nor repeats
    kShadowed,  // rules[0] never gets to run where it fits, because rules[1] is tried first
  };
  Kind kind = kUndo;
  std::vector<std::string> rules;
  std::string what;     // one line
  std::string witness;  // the program, as text
};
std::string_view FindingName(RuleFinding::Kind kind);  // "undo each other", ...

struct RuleAnalysis {
  std::vector<RuleFinding> findings;
  std::vector<SkippedRule> not_analysed;  // with what the closest attempt at a program failed at
  size_t analysed = 0;                    // rules
  size_t pairs = 0;                       // of rules that were run together
};

struct AnalysisOptions {
  InstanceOptions instances;
  int max_steps = 40;  // rewrites of one program by a rule or a pair before it is "without end"
  // More programs for a rule, e.g. from golden tests; null is fine.
  std::function<std::vector<std::unique_ptr<ir::Program>>(const drr::Rule&)> seeds;
};

RuleAnalysis AnalyseRules(ir::IrContext& context, const drr::FrozenRewritePatternSet& patterns,
                          const AnalysisOptions& options);

}  // namespace weft::passes
