#include "tools/cli/pass_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <optional>

#include "ir/base/contains.h"
#include "ir/base/suggest.h"
#include "ir/text/printer.h"
#include "kernels/runtime/evaluator.h"
#include "passes/pass_conflict.h"
#include "passes/pass_registry.h"
#include "passes/pattern_rewrite_pass.h"
#include "passes/pipelines.h"
#include "passes/rule_registry.h"
#include "passes/targets/ascend/dim_range.h"
#include "passes/transformation.h"
#include "tools/cli/pass_tables.h"
#include "tools/cli/program_main.h"
#include "tools/cli/rule_bound.h"
#include "tools/cli/rule_file_pass.h"
#include "tools/cli/target_opset.h"

namespace weft::tools {
namespace {

using passes::PassReport;

std::vector<std::string> PassNames() {
  std::vector<std::string> names;
  for (const passes::RegisteredPass& pass : passes::RegisteredPasses()) names.push_back(pass.name);
  return names;
}

std::vector<std::string> TransformationNames() {
  std::vector<std::string> names;
  for (const passes::Transformation& it : passes::Transformations()) {
    names.push_back(it.name);
    for (std::string_view alias : it.aliases) names.emplace_back(alias);
  }
  return names;
}

std::vector<std::string> PipelineNames() {
  std::vector<std::string> names;
  for (const passes::Pipeline& pipeline : passes::Pipelines()) names.emplace_back(pipeline.name);
  return names;
}

absl::Status CheckPrintFlag(const std::string& name, std::vector<std::string> more) {
  if (name.empty()) return absl::OkStatus();
  for (const std::string& pass : PassNames()) more.push_back(pass);
  return ir::CheckName("pass", name, more);
}

// Rules of a file may undo what a pass does, too.
absl::Status CheckConflict(const PassFlags& flags,
                           const std::vector<std::unique_ptr<drr::Rule>>& rules) {
  std::vector<std::string> names = PassesOf(flags);
  for (const auto& rule : rules)
    if (!ir::Contains(flags.disabled_rules, rule->name)) names.push_back(rule->name);
  const std::string conflict = passes::ConflictOf(names);
  return conflict.empty() ? absl::OkStatus() : ir::InvalidArgument(conflict);
}

// What they were judged to be. Rules that the run leaves out are not judged.
absl::StatusOr<RuleCounts> JudgeEligible(const PassFlags& flags,
                                         const std::vector<std::unique_ptr<drr::Rule>>& rules) {
  const passes::PassContext run = PassContextOf(flags);
  std::vector<const drr::Rule*> eligible;
  for (const auto& rule : rules)
    if (passes::WhyNotEligible(rule->name, rule->numerics, false, run).empty() &&
        (!run.why_not_rule || run.why_not_rule(*rule).empty()))
      eligible.push_back(rule.get());
  return JudgeBeforeUse(eligible, flags.trust, flags.program);
}

// The pass of the rules, whose names go to *names.
absl::StatusOr<std::unique_ptr<passes::Pass>> PassOfFiles(const PassFlags& flags,
                                                          ir::Program& program,
                                                          std::vector<std::string>* names) {
  WEFT_ASSIGN_OR_RETURN(auto rules, LoadRuleFiles(flags.rules_files, program, flags.program));
  WEFT_RETURN_IF_ERROR(CheckConflict(flags, rules));
  WEFT_ASSIGN_OR_RETURN(RuleCounts counts, JudgeEligible(flags, rules));
  for (const auto& rule : rules) names->push_back(rule->name);
  return MakeRuleFilePass(std::move(rules), std::move(counts));
}

void PrintIr(const passes::Pass& pass, bool after, ir::Program& program) {
  const std::string text = ir::PrintBanner(fmt::format("IRPrinting on builtin.module {} {} pass",
                                                       after ? "after" : "before", pass.name())) +
                           ir::PrintProgram(program);
  std::fwrite(text.data(), 1, text.size(), stderr);
}

passes::PassManager::Hook PrintingHook(const PassFlags& flags, passes::PassManager::Hook hook) {
  if (flags.print_before.empty() && flags.print_after.empty()) return hook;
  return [&flags, hook](const passes::Pass& pass, bool after, bool changed, ir::Program& program) {
    const std::string& which = after ? flags.print_after : flags.print_before;
    if (which == "all" || which == pass.name() || (after && which == "change" && changed))
      PrintIr(pass, after, program);
    if (hook) hook(pass, after, changed, program);
  };
}

}  // namespace

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

std::vector<std::string> RuleNamesOf(const PassFlags& flags) {
  return flags.rules_files.empty() ? RuleNames() : std::vector<std::string>();
}

std::vector<std::string> PassesOf(const PassFlags& flags) {
  std::vector<std::string> names =
      flags.passes.empty() ? passes::FindPipeline(flags.pipeline)->passes : flags.passes;
  if (flags.widen_floats && !names.empty()) names.insert(names.begin(), "widen-floats");
  if (flags.convert) {
    // At the end of simplify, so that constants of f32 are known for what they are until then.
    const bool in_between =
        passes::BeginsWithCommonPasses(names) && names != passes::FindPipeline("simplify")->passes;
    const size_t at = in_between ? passes::CommonPasses().size() : names.size();
    names.insert(names.begin() + static_cast<std::ptrdiff_t>(at), "convert-floats");
  }
  return passes::WithEnabled(std::move(names), flags.enabled_rules);
}

passes::PassContext PassContextOf(const PassFlags& flags) {
  passes::PassContext context;
  context.numerics = drr::FindNumericClass(flags.numerics).value();  // CheckPassFlags() saw it
  context.enabled_rules = flags.enabled_rules;
  context.disabled_rules = flags.disabled_rules;
  context.collect_statistics = !flags.stats.empty();
  context.paranoid = flags.paranoid;
  if (flags.target_opset > 0)
    context.why_not_rule = [target = flags.target_opset](const drr::Rule& rule) {
      return WhyNotInOpset(rule, target);
    };
  passes::SampledDynamicReshapeOptions sampled;
  for (const std::string& text : flags.dim_ranges)
    if (auto range = passes::ParseDimRange(text); range.ok())  // CheckPassFlags has seen them
      sampled.dim_ranges.push_back(*std::move(range));
  context.options.Set(std::move(sampled));
  if (flags.convert) context.options.Set(*flags.convert);
  return context;
}

void AddPipelineFlag(CLI::App& app, PassFlags* flags) {
  app.add_option("--pipeline", flags->pipeline,
                 fmt::format("{} ({})", fmt::join(PipelineNames(), "|"), flags->pipeline))
      ->type_name("P")
      ->each([flags](const std::string&) { flags->pipeline_given = true; });
}

void AddPassFlags(CLI::App& app, PassFlags* flags) {
  app.add_option("--passes", flags->passes)
      ->type_name("A,B")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->excludes("--pipeline")
      ->group(kSameLine);
  app.add_option("--enable-rule", flags->enabled_rules,
                 "run an opt-in rule or pass too; do not run it; repeatable")
      ->type_name("R")
      ->allow_extra_args(false);
  app.add_option("--disable-rule", flags->disabled_rules)
      ->type_name("R")
      ->allow_extra_args(false)
      ->group(kSameLine);
  app.add_option(
         "--numerics", flags->numerics,
         fmt::format("numbers: {} ({})", fmt::join(drr::kNumericClassNames, "|"), flags->numerics))
      ->type_name("N");
  app.add_option("--print-ir-before", flags->print_before, "on stderr; P is a pass, all, or change")
      ->type_name("P");
  app.add_option("--print-ir-after", flags->print_after)->type_name("P")->group(kSameLine);
  app.add_flag("--verify-each", flags->verify_each,
               "verify after every pass; check every single rewrite, slow");
  app.add_flag("--paranoid", flags->paranoid)->group(kSameLine);
  app.add_flag("--stats{table}", flags->stats,
               "per pass and rule, on stderr; =json; exit 1 if R applied less");
  app.add_flag("--timing", flags->timing)->group(kSameLine);
  app.add_option("--fail-if", flags->fail_if)
      ->type_name("R<N")
      ->allow_extra_args(false)
      ->group(kSameLine);
  AddRewriteFlags(app, &flags->rewrites);
}

void AddRulesFileFlag(CLI::App& app, PassFlags* flags) {
  app.add_option("--rules-file", flags->rules_files,
                 "rules of F first, judged; or not; exit 1 if not")
      ->type_name("F")
      ->allow_extra_args(false);
  AddRuleTrustFlags(app, &flags->trust);
}

void AddDimRangeFlag(CLI::App& app, PassFlags* flags) {
  app.add_option("--dim-range", flags->dim_ranges)
      ->type_name("NAME=LOW..HIGH[*STEP]")
      ->allow_extra_args(false)
      ->group(kSameLine);
}

void AddOtherPassFlags(CLI::App& app, PassFlags* flags) {
  const size_t others = app.get_options().size();
  AddPassFlags(app, flags);
  AddSearchFlags(app, &flags->search);
  AddRulesFileFlag(app, flags);
  AddDimRangeFlag(app, flags);
  const std::vector<CLI::Option*> options = app.get_options(nullptr);
  for (size_t i = others; i < options.size(); ++i) options[i]->group(kNotShown);
}

absl::Status CheckPassFlags(const PassFlags& flags) {
  if (flags.passes.empty())
    WEFT_RETURN_IF_ERROR(ir::CheckName("pipeline", flags.pipeline, PipelineNames()));
  for (const std::string& name : flags.passes)
    WEFT_RETURN_IF_ERROR(ir::CheckName("pass", name, PassNames()));
  if (const std::string conflict = passes::ConflictOf(PassesOf(flags)); !conflict.empty())
    return ir::InvalidArgument(conflict);
  const std::vector<std::string> numerics(drr::kNumericClassNames.begin(),
                                          drr::kNumericClassNames.end());
  if (!drr::FindNumericClass(flags.numerics))
    return ir::UnknownName("numerics", flags.numerics, numerics);
  WEFT_RETURN_IF_ERROR(CheckPrintFlag(flags.print_before, {"all"}));
  WEFT_RETURN_IF_ERROR(CheckPrintFlag(flags.print_after, {"all", "change"}));
  WEFT_RETURN_IF_ERROR(CheckSearchFlags(flags.search));
  WEFT_RETURN_IF_ERROR(CheckRewriteFlags(flags.rewrites));
  WEFT_RETURN_IF_ERROR(CheckRuleTrust(flags.trust));
  for (const std::string& range : flags.dim_ranges)
    WEFT_RETURN_IF_ERROR(ir::Annotate(passes::ParseDimRange(range).status(), "--dim-range"));
  const std::string forms[] = {"table", "json"};
  if (!flags.stats.empty())
    WEFT_RETURN_IF_ERROR(ir::CheckName("form of --stats", flags.stats, forms));
  for (const std::string& bound : flags.fail_if)
    WEFT_RETURN_IF_ERROR(ParseRuleBound(bound, RuleNamesOf(flags)).status());
  for (const std::string& name : flags.disabled_rules)
    if (flags.rules_files.empty())
      WEFT_RETURN_IF_ERROR(ir::CheckName("rule", name, TransformationNames()));
  for (const std::string& name : flags.enabled_rules) {
    WEFT_RETURN_IF_ERROR(ir::CheckName("rule", name, TransformationNames()));
    if (passes::ContainsRule(flags.disabled_rules, passes::CanonicalRuleName(name)))
      return ir::InvalidArgument("rule '" + name + "' is both enabled and disabled");
  }
  return absl::OkStatus();
}

absl::Status JudgeRulesOfFiles(const PassFlags& flags, ir::Program& program) {
  if (flags.rules_files.empty()) return absl::OkStatus();
  WEFT_ASSIGN_OR_RETURN(const auto rules, LoadRuleFiles(flags.rules_files, program, flags.program));
  return JudgeEligible(flags, rules).status();
}

absl::Status RunPasses(const PassFlags& flags, ir::Program& program,
                       std::vector<PassReport>* reports, passes::PassManager::Hook hook) {
  WEFT_ASSIGN_OR_RETURN(auto evaluator, kernels::KernelEvaluator::Create("auto"));
  passes::PassManager pm(program.context());
  std::vector<std::string> rules_of_files;  // of which a limited run may not come to any
  if (!flags.rules_files.empty()) {
    WEFT_ASSIGN_OR_RETURN(auto pass, PassOfFiles(flags, program, &rules_of_files));
    pm.AddPass(std::move(pass));
  }
  const std::vector<std::string> names = PassesOf(flags);
  for (const std::string& name : names) {
    std::unique_ptr<passes::Pass> pass =
        name == passes::kEnabledRules
            ? std::make_unique<passes::PatternRewritePass>(
                  name, "rules that --enable-rule names", std::vector<std::string>(),
                  passes::RulesOutside(names, flags.enabled_rules))
            : passes::MakePass(name);
    if (!pass) return ir::Internal("pipeline '" + flags.pipeline + "' names no pass " + name);
    pm.AddPass(std::move(pass));
  }
  pm.pass_context() = PassContextOf(flags);
  pm.pass_context().evaluator = evaluator.get();
  std::optional<passes::RewriteTrace> trace;
  if (auto options = TraceOptionsOf(flags.rewrites))
    pm.pass_context().trace = &trace.emplace(*std::move(options));
  std::optional<SearchRun> search;
  if (ir::Contains(names, "superopt"))
    pm.pass_context().options.Set(search.emplace(flags.search).options());
  pm.set_verify_each(flags.verify_each);
  pm.set_hook(PrintingHook(flags, std::move(hook)));
  const absl::Status status = pm.Run(program);
  search.reset();
  if (flags.stats == "table") std::fputs(StatisticsTable(pm.reports()).c_str(), stderr);
  if (flags.stats == "json") std::fputs(StatisticsJson(pm.reports()).c_str(), stderr);
  if (flags.timing) std::fputs(TimingTable(pm.reports()).c_str(), stderr);
  if (reports) *reports = pm.reports();
  WEFT_RETURN_IF_ERROR(status);
  if (flags.rules_files.empty()) return absl::OkStatus();  // CheckPassFlags knew all names
  const std::vector<std::string> known = TransformationNames();
  for (const std::string& name : flags.disabled_rules)
    if (!ir::Contains(known, name) && !ir::Contains(rules_of_files, name))
      WEFT_RETURN_IF_ERROR(ir::CheckName("rule", name, RuleNames(pm.reports())));
  return absl::OkStatus();
}

}  // namespace weft::tools
