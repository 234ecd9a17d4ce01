#include "tools/cli/pass_flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <optional>

#include "ir/base/contains.h"
#include "ir/base/suggest.h"
#include "ir/text/printer.h"
#include "tools/cli/program_main.h"
#include "tools/cli/rule_bound.h"
#include "tools/cli/tables/pass_tables.h"

namespace weft::tools {
namespace {

using passes::PassReport;

absl::Status CheckPrintFlag(const std::string& name, std::vector<std::string> more) {
  if (name.empty()) return absl::OkStatus();
  for (const std::string& pass : PassNames()) more.push_back(pass);
  return ir::CheckName("pass", name, more);
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

std::vector<std::string> RuleNamesOf(const PassFlags& flags) {
  return flags.rules_files.empty() ? RuleNames() : std::vector<std::string>();
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
  app.add_option("--print-ir-before", flags->print_before,
                 "on stderr: a pass or all; after: change too")
      ->type_name("P");
  app.add_option("--print-ir-after", flags->print_after)->type_name("P")->group(kSameLine);
  app.add_flag("--verify-each", flags->verify_each,
               "verify after every pass; check every single rewrite, slow");
  app.add_flag("--paranoid", flags->paranoid)->group(kSameLine);
  app.add_flag("--stats{table}", flags->stats,
               "what rules did, on stderr; =all, =json; exit 1 if R did less");
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
  app.add_flag("--trust-rules", flags->trust.trust)->group(kSameLine);
  app.add_flag("--require-judged", flags->trust.require_judged)->group(kSameLine);
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
  for (size_t i = others; i < options.size(); ++i)
    if (options[i]->get_group() != kSameLine) options[i]->group(kNotShown);
}

absl::Status CheckPassFlags(const PassFlags& flags) {
  WEFT_RETURN_IF_ERROR(CheckPassSelection(flags));
  WEFT_RETURN_IF_ERROR(CheckPrintFlag(flags.print_before, {"all"}));
  WEFT_RETURN_IF_ERROR(CheckPrintFlag(flags.print_after, {"all", "change"}));
  WEFT_RETURN_IF_ERROR(CheckSearchFlags(flags.search));
  WEFT_RETURN_IF_ERROR(CheckRewriteFlags(flags.rewrites));
  if (flags.trust.trust && flags.trust.require_judged)
    return ir::InvalidArgument(
        "--trust-rules judges no rule and --require-judged needs all judged");
  const std::string forms[] = {"table", "all", "json"};
  if (!flags.stats.empty())
    WEFT_RETURN_IF_ERROR(ir::CheckName("form of --stats", flags.stats, forms));
  for (const std::string& bound : flags.fail_if)
    WEFT_RETURN_IF_ERROR(ParseRuleBound(bound, RuleNamesOf(flags)).status());
  return absl::OkStatus();
}

absl::Status JudgeRulesOfFiles(const PassFlags& flags, ir::Program& program) {
  return weft::JudgeRulesOfFiles(flags, program, NoticesOf(flags.program));
}

absl::Status RunPasses(const PassFlags& flags, ir::Program& program,
                       std::vector<PassReport>* reports, passes::PassManager::Hook hook) {
  PassSelection selection = flags;
  selection.collect_statistics = !flags.stats.empty();
  PassRun run = {.trace = TraceOptionsOf(flags.rewrites),
                 .hook = PrintingHook(flags, std::move(hook)),
                 .notices = NoticesOf(flags.program)};
  std::optional<SearchRun> search;
  if (ir::Contains(PassesOf(flags), "superopt"))
    run.search = search.emplace(flags.search).options();
  const ModelSize before = flags.stats == "json" ? MeasureSize(program) : ModelSize();
  absl::Status status = RunSelectedPasses(selection, program, &run);
  search.reset();
  if (flags.stats == "table") std::fputs(StatisticsTable(run.reports).c_str(), stderr);
  if (flags.stats == "all") std::fputs(FullStatisticsTable(run.reports).c_str(), stderr);
  if (flags.stats == "json")
    std::fputs(StatisticsJson(run.reports, before, MeasureSize(program)).c_str(), stderr);
  if (flags.timing) std::fputs(TimingTable(run.reports).c_str(), stderr);
  if (reports) *reports = std::move(run.reports);
  return status;
}

}  // namespace weft::tools
