// RULE[@VALUE]: why a rule did not apply in a run of passes, or where it did.
//
// Two states of the program are looked at: the one that the first pass with the rule begins with,
// and the one after the run, which says why something is *still* not rewritten. VALUE is a name, or
// %N as the program after the run numbers it; without it the site where the rule comes furthest is
// taken.
//
//   WEFT_ASSIGN_OR_RETURN(RuleExplainer explainer, RuleExplainer::Create("fuse-gelu@%12", rules));
//   PassRun run = {.hook = explainer.hook()};
//   WEFT_RETURN_IF_ERROR(RunSelectedPasses(selection, program, &run));
//   WEFT_ASSIGN_OR_RETURN(RuleAnswer answer, explainer.Answer(program, RuleNames(run.reports), run.reports));
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "drr/engine/explain.h"
#include "drr/rule/rule.h"
#include "ir/base/status.h"
#include "passes/pass_manager.h"

namespace weft {

// What there is to say of a rule after a run.
struct RuleAnswer {
  struct Pass {  // that had the rule
    std::string pass;
    std::optional<uint64_t> applied;  // how often; none: it was not run
    std::string not_run;              // why
  };
  struct Look {  // at one state of the program
    enum Outcome { kApplies, kRefused, kNoSite, kNoValue } outcome = kNoSite;
    std::string when;  // "before pass fuse", "after the run"
    drr::ExplanationParts parts = {};
    std::string text = {};  // of the look, in lines
  };
  std::string rule, value;  // value: empty when none was asked for
  std::vector<Pass> passes = {};
  std::string not_run = {};  // why no pass of the run had it
  std::vector<Look> looks = {};

  std::string ToString() const;
};

class RuleExplainer {
 public:
  // InvalidArgument when there is no such rule; without any `rules` that is left to Answer.
  static absl::StatusOr<RuleExplainer> Create(const std::string& what,
                                              std::span<const std::string> rules);

  // Must be called around every pass; the explainer must outlive it.
  passes::PassManager::Hook hook();
  // `after` is the program when all passes have run. InvalidArgument when it has no such value, or
  // the rule is not among `rules`.
  absl::StatusOr<RuleAnswer> Answer(ir::Program& after, std::span<const std::string> rules,
                                    const std::vector<passes::PassReport>& reports);

 private:
  // The program that the first pass with the rule begins with.
  struct Start {
    std::string pass;
    std::unique_ptr<ir::Program> copy;
    std::vector<ir::Operation> originals;  // the ops of `copy` in the program itself, in its order
  };

  void FindRule(ir::IrContext& context);
  absl::StatusOr<ir::Value> FindValue(ir::Program& after) const;
  ir::Value AtStart(ir::Value after) const;
  void AddHistory(const std::vector<passes::PassReport>& reports, RuleAnswer* answer) const;
  RuleAnswer::Look LookAt(std::string when, ir::Program& program, ir::Value value,
                          const char* no_value) const;

  std::string rule_name_, value_name_;
  std::shared_ptr<const drr::Rule> rule_;
  std::optional<Start> start_;
};

}  // namespace weft
