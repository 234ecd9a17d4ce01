#include "weft/optimize/run_passes.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "ir/base/contains.h"
#include "ir/base/suggest.h"
#include "kernels/runtime/evaluator.h"
#include "passes/canonicalize/shapes/rebuild_sizes.h"
#include "passes/pass_conflict.h"
#include "passes/pass_registry.h"
#include "passes/pattern_rewrite_pass.h"
#include "passes/pipelines.h"
#include "passes/rule_registry.h"
#include "passes/targets/ascend/dim_range.h"
#include "passes/transformation.h"
#include "weft/optimize/rule_file_pass.h"
#include "weft/optimize/target_opset.h"

namespace weft {
namespace {

using passes::PassReport;

std::vector<std::string> TransformationNames() {
  std::vector<std::string> names;
  for (const passes::Transformation& it : passes::Transformations()) {
    names.push_back(it.name);
    for (std::string_view alias : it.aliases) names.emplace_back(alias);
  }
  return names;
}

// Rules of a file may undo what a pass does, too.
absl::Status CheckConflict(const PassSelection& selection,
                           const std::vector<std::unique_ptr<drr::Rule>>& rules) {
  std::vector<std::string> names = PassesOf(selection);
  for (const auto& rule : rules)
    if (!ir::Contains(selection.disabled_rules, rule->name)) names.push_back(rule->name);
  const std::string conflict = passes::ConflictOf(names);
  return conflict.empty() ? absl::OkStatus() : ir::InvalidArgument(conflict);
}

absl::StatusOr<std::vector<std::unique_ptr<drr::Rule>>> RulesOf(const PassSelection& selection,
                                                                ir::Program& program,
                                                                const Notices& notices) {
  return LoadRules(selection.rules_files, selection.rule_texts, program, notices);
}

// What they were judged to be. Rules that the run leaves out are not judged.
absl::StatusOr<RuleCounts> JudgeEligible(const PassSelection& selection, const Notices& notices,
                                         const std::function<bool()>& stop,
                                         const std::vector<std::unique_ptr<drr::Rule>>& rules) {
  const passes::PassContext run = PassContextOf(selection);
  std::vector<const drr::Rule*> eligible;
  for (const auto& rule : rules)
    if (passes::WhyNotEligible(rule->name, rule->numerics, false, run).empty() &&
        (!run.why_not_rule || run.why_not_rule(*rule).empty()))
      eligible.push_back(rule.get());
  return JudgeBeforeUse(eligible, selection.trust, notices, stop);
}

// The pass of the rules, whose names go to *names.
absl::StatusOr<std::unique_ptr<passes::Pass>> PassOfFiles(const PassSelection& selection,
                                                          const PassRun& run, ir::Program& program,
                                                          std::vector<std::string>* names) {
  WEFT_ASSIGN_OR_RETURN(auto rules, RulesOf(selection, program, run.notices));
  WEFT_RETURN_IF_ERROR(CheckConflict(selection, rules));
  WEFT_ASSIGN_OR_RETURN(RuleCounts counts, JudgeEligible(selection, run.notices, run.stop, rules));
  for (const auto& rule : rules) names->push_back(rule->name);
  return MakeRuleFilePass(std::move(rules), std::move(counts));
}

absl::Status AddPasses(const PassSelection& selection, const std::vector<std::string>& names,
                       passes::PassManager& pm) {
  for (const std::string& name : names) {
    std::unique_ptr<passes::Pass> pass =
        name == passes::kEnabledRules
            ? std::make_unique<passes::PatternRewritePass>(
                  name, "rules that --enable-rule names", std::vector<std::string>(),
                  passes::RulesOutside(names, selection.enabled_rules))
            : passes::MakePass(name);
    if (!pass) return ir::Internal("pipeline '" + selection.pipeline + "' names no pass " + name);
    pm.AddPass(std::move(pass));
  }
  return absl::OkStatus();
}

// The names of a checked selection exist but for those that only rules of files may have.
absl::Status CheckDisabledRulesOfFiles(const PassSelection& selection,
                                       const std::vector<std::string>& rules_of_files,
                                       const std::vector<PassReport>& reports) {
  if (!selection.HasRules()) return absl::OkStatus();
  const std::vector<std::string> known = TransformationNames();
  for (const std::string& name : selection.disabled_rules)
    if (!ir::Contains(known, name) && !ir::Contains(rules_of_files, name))
      WEFT_RETURN_IF_ERROR(ir::CheckName("rule", name, RuleNames(reports)));
  return absl::OkStatus();
}

}  // namespace

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const passes::RegisteredPass& pass : passes::RegisteredPasses()) names.push_back(pass.name);
  return names;
}

std::vector<std::string> PipelineNames() {
  std::vector<std::string> names;
  for (const passes::Pipeline& pipeline : passes::Pipelines()) names.emplace_back(pipeline.name);
  return names;
}

std::vector<std::string> RuleNames(const std::vector<PassReport>& reports) {
  std::vector<std::string> names;
  for (const passes::RegisteredRule& rule : passes::RegisteredRules())
    names.emplace_back(rule.name);
  for (const PassReport& report : reports) {
    for (const passes::RuleStatistics& rule : report.rules)
      if (!ir::Contains(names, rule.rule)) names.push_back(rule.rule);
    for (const passes::SkippedRule& rule : report.skipped)
      if (!ir::Contains(names, rule.rule)) names.push_back(rule.rule);
  }
  return names;
}

std::vector<std::string> PassesOf(const PassSelection& selection) {
  std::vector<std::string> names = selection.passes.empty()
                                       ? passes::FindPipeline(selection.pipeline)->passes
                                       : selection.passes;
  if (selection.widen_floats && !names.empty()) names.insert(names.begin(), "widen-floats");
  if (selection.convert) {
    // At the end of simplify, so that constants of f32 are known for what they are until then.
    const bool in_between =
        passes::BeginsWithCommonPasses(names) && names != passes::FindPipeline("simplify")->passes;
    const size_t at = in_between ? passes::CommonPasses().size() : names.size();
    names.insert(names.begin() + static_cast<std::ptrdiff_t>(at), "convert-floats");
  }
  return passes::WithEnabled(std::move(names), selection.enabled_rules);
}

passes::PassContext PassContextOf(const PassSelection& selection) {
  passes::PassContext context;
  context.numerics = drr::FindNumericClass(selection.numerics).value();
  context.enabled_rules = selection.enabled_rules;
  context.disabled_rules = selection.disabled_rules;
  context.collect_statistics = selection.collect_statistics;
  context.paranoid = selection.paranoid;
  if (selection.target_opset > 0) {
    context.why_not_rule = [target = selection.target_opset](const drr::Rule& rule) {
      return WhyNotInOpset(rule, target);
    };
    context.options.Set(passes::RebuildSizesOptions{.target_opset = selection.target_opset});
  }
  passes::SampledDynamicReshapeOptions sampled;
  for (const std::string& text : selection.dim_ranges)
    if (auto range = passes::ParseDimRange(text); range.ok())  // CheckPassSelection has seen them
      sampled.dim_ranges.push_back(*std::move(range));
  context.options.Set(std::move(sampled));
  if (selection.convert) context.options.Set(*selection.convert);
  return context;
}

absl::Status CheckPassSelection(const PassSelection& selection) {
  if (selection.passes.empty())
    WEFT_RETURN_IF_ERROR(ir::CheckName("pipeline", selection.pipeline, PipelineNames()));
  for (const std::string& name : selection.passes)
    WEFT_RETURN_IF_ERROR(ir::CheckName("pass", name, PassNames()));
  if (const std::string conflict = passes::ConflictOf(PassesOf(selection)); !conflict.empty())
    return ir::InvalidArgument(conflict);
  const std::vector<std::string> numerics(drr::kNumericClassNames.begin(),
                                          drr::kNumericClassNames.end());
  if (!drr::FindNumericClass(selection.numerics))
    return ir::UnknownName("numerics", selection.numerics, numerics);
  std::set<std::string> dims;
  for (const std::string& text : selection.dim_ranges) {
    const auto range = passes::ParseDimRange(text);
    WEFT_RETURN_IF_ERROR(ir::Annotate(range.status(), "--dim-range"));
    if (!dims.insert(range->name).second)
      return ir::InvalidArgument("--dim-range of '" + range->name + "' is given twice");
  }
  for (const std::string& name : selection.disabled_rules)
    if (!selection.HasRules())
      WEFT_RETURN_IF_ERROR(ir::CheckName("rule", name, TransformationNames()));
  for (const std::string& name : selection.enabled_rules) {
    WEFT_RETURN_IF_ERROR(ir::CheckName("rule", name, TransformationNames()));
    if (passes::ContainsRule(selection.disabled_rules, passes::CanonicalRuleName(name)))
      return ir::InvalidArgument("rule '" + name + "' is both enabled and disabled");
  }
  return absl::OkStatus();
}

absl::Status JudgeRulesOfFiles(const PassSelection& selection, ir::Program& program,
                               const Notices& notices) {
  if (!selection.HasRules()) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(const auto rules, RulesOf(selection, program, notices));
  return JudgeEligible(selection, notices, nullptr, rules).status();
}

absl::Status RunSelectedPasses(const PassSelection& selection, ir::Program& program, PassRun* run) {
  // Constants of exact numbers are those that a check of them compares with (weft/check/README.md).
  WEFT_ASSIGN_OR_RETURN(auto evaluator,
                        kernels::KernelEvaluator::Create(
                            selection.numerics == "exact" ? "reference" : "auto", run->folded));
  passes::PassManager pm(program.context());
  std::vector<std::string> rules_of_files;  // of which a limited run may not come to any
  if (selection.HasRules()) {
    WEFT_ASSIGN_OR_RETURN(auto pass, PassOfFiles(selection, *run, program, &rules_of_files));
    pm.AddPass(std::move(pass));
  }
  WEFT_RETURN_IF_ERROR(AddPasses(selection, PassesOf(selection), pm));
  pm.pass_context() = PassContextOf(selection);
  pm.pass_context().evaluator = evaluator.get();
  std::optional<passes::RewriteTrace> trace;
  if (run->trace) pm.pass_context().trace = &trace.emplace(*run->trace);
  if (run->search) pm.pass_context().options.Set(*run->search);
  pm.set_verify_each(selection.verify_each);
  pm.set_hook(run->hook);
  pm.set_stop(run->stop);
  const absl::Status status = pm.Run(program);
  run->reports = pm.reports();
  WEFT_RETURN_IF_ERROR(status);
  return CheckDisabledRulesOfFiles(selection, rules_of_files, run->reports);
}

}  // namespace weft
