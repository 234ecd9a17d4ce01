// Passes: named transformations of a module, run by a PassManager (passes/pass_manager.h).
//
//   class MyPass : public Pass {
//    public:
//     MyPass() : Pass("my-pass", "what it does in one line") {}
//     absl::Status Run(ir::Program& program) override { ...; Count("things"); MarkChanged(); ... }
//   };
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/base/status.h"
#include "ir/evaluator.h"
#include "ir/program.h"
#include "passes/greedy_driver.h"
#include "passes/pass_options.h"

namespace weft::passes {

// What a tool gives to all passes of a run.
class BuiltRules;  // passes/built_rules.h

struct PassContext {
  // What constants are folded with, a kernels::KernelEvaluator. A pass that folds constants needs
  // it, unless the run folds none.
  ir::Evaluator* evaluator = nullptr;
  bool fold_constants = true;
  drr::NumericClass numerics =
      drr::NumericClass::kReassociates;  // rules beyond it are not eligible
  // See GreedyRewriteConfig.
  bool record_rules = false, collect_statistics = false, paranoid = false;
  RewriteTrace* trace = nullptr;  // what every rewrite is reported to; the run ends at its limit
  uint64_t seed = 0;
  std::vector<std::string> disabled_rules;
  std::vector<std::string> enabled_rules;  // opt-in ones
  // Why a rule does not fit what the program is for, e.g. the format that it will be written in; ""
  // when it does. Not set: every rule fits.
  std::function<std::string(const drr::Rule&)> why_not_rule;
  PassOptions options;  // of single passes
  // What passes of one run have built already; none: each pass builds its own rules.
  std::shared_ptr<BuiltRules> built_rules;
};

// Why the run does not use a rule or a pass; "" when it does.
std::string WhyNotEligible(std::string_view name, drr::NumericClass numerics, bool opt_in,
                           const PassContext& run);

// For passes that fold constants: the run's evaluator, null when the run folds none, or
// InvalidArgument saying what to set.
absl::StatusOr<ir::Evaluator*> EvaluatorOf(const PassContext& run);

// A rule or pass skipped because of run options.
struct SkippedRule {
  std::string rule, why;
};

// What a pass is apart from its name.
struct PassTraits {
  // The document whose transformation it is: see passes/transformation.h.
  std::string_view seed = {};
  // A run that allows less skips the pass, unless the pass does what it can within less.
  drr::NumericClass numerics = drr::NumericClass::kExact;
  bool honours_numerics = false;
  int opt_level = 1;
};

class Pass {
 public:
  explicit Pass(std::string_view name, std::string_view description = {}, PassTraits traits = {})
      : name_(name), description_(description), traits_(traits) {}
  virtual ~Pass() = default;
  const std::string& name() const { return name_; }
  const std::string& description() const { return description_; }
  const PassTraits& traits() const { return traits_; }

  // Once per run, before anything is changed.
  virtual absl::Status Initialize(ir::IrContext& context, const PassContext& pass_context) {
    (void)context, (void)pass_context;
    return absl::OkStatus();
  }
  virtual bool CanApplyOn(ir::Operation op) const { return op.num_regions() > 0; }
  virtual absl::Status Run(ir::Program& program) = 0;
  // Whether marks of in-place execution (ir/analysis/inplace.h) may stay while it runs. Else they
  // are dropped before: a rewrite may add a use of a buffer marked for overwriting.
  virtual bool KeepsInplaceMarks() const { return false; }
  // The rules it applies, of a pass that applies rules, after Initialize; else null.
  virtual const drr::FrozenRewritePatternSet* patterns() const { return nullptr; }

  // Set by Run.
  bool changed() const { return changed_; }
  const std::vector<std::pair<std::string, uint64_t>>& statistics() const { return statistics_; }
  const std::vector<RuleStatistics>& rule_statistics() const { return rules_; }
  // Set by Initialize.
  const std::vector<SkippedRule>& skipped_rules() const { return skipped_; }
  void ResetStatistics();

 protected:
  void MarkChanged() { changed_ = true; }
  void Count(std::string_view what, uint64_t n = 1);
  std::vector<RuleStatistics> rules_;
  std::vector<SkippedRule> skipped_;

 private:
  std::string name_, description_;
  PassTraits traits_;
  bool changed_ = false;
  std::vector<std::pair<std::string, uint64_t>> statistics_;
};

}  // namespace weft::passes
