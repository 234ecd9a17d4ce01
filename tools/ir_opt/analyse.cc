#include "tools/ir_opt/analyse.h"

#include <fmt/format.h>

#include <set>

#include "passes/analysis/analyse_rules.h"
#include "passes/pass_registry.h"
#include "tools/cli/program_main.h"
#include "tools/cli/tables/table.h"
#include "weft/io/dialects.h"
#include "weft/optimize/rule_file_pass.h"

namespace weft::tools {
namespace {

using passes::RuleFinding;

std::string Indented(const std::string& text) {
  std::string result;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    result += "    " + text.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  return result;
}

std::string FindingText(const RuleFinding& finding) {
  std::string title;
  if (finding.kind == RuleFinding::kShadowed) {
    title = fmt::format("{} is shadowed by {}", finding.rules[0], finding.rules[1]);
  } else if (finding.kind == RuleFinding::kUndo && finding.rules.size() == 1) {
    title = finding.rules[0] + " undoes itself";
  } else {
    title = fmt::format("{} {}", fmt::join(finding.rules, ", "), FindingName(finding.kind));
  }
  return fmt::format("  {}: {}\n{}", title, finding.what, Indented(finding.witness));
}

class Report {
 public:
  absl::Status Add(passes::Pass& pass, ir::IrContext& context, const PassFlags& flags) {
    passes::PassContext run = PassContextOf(flags);
    run.fold_constants = false;  // nothing is run
    WEFT_RETURN_IF_ERROR(pass.Initialize(context, run));
    if (!pass.patterns()) return absl::OkStatus();
    const passes::RuleAnalysis analysis = passes::AnalyseRules(context, *pass.patterns(), {});
    text_ += fmt::format("pass {}: {} of {} rules analysed, {} pairs, {} finding{}\n", pass.name(),
                         analysis.analysed, pass.patterns()->rules().size(), analysis.pairs,
                         analysis.findings.size(), analysis.findings.size() == 1 ? "" : "s");
    for (const RuleFinding& finding : analysis.findings) text_ += FindingText(finding);
    findings_ += analysis.findings.size();
    for (const passes::SkippedRule& rule : analysis.not_analysed)
      if (names_.insert(rule.rule).second) not_analysed_.AddRow({rule.rule, rule.why});
    return absl::OkStatus();
  }
  size_t findings() const { return findings_; }
  std::string ToString() const {
    return names_.empty() ? text_ : text_ + "\n" + not_analysed_.ToString(stdout);
  }

 private:
  std::string text_;
  size_t findings_ = 0;
  std::set<std::string> names_;  // of rules not analysed, which several passes may have
  Table not_analysed_{{"not analysed", "the closest program failed at"}};
};

}  // namespace

absl::StatusOr<std::string> AnalyseRulesOf(const std::vector<std::string>& pass_names,
                                           const PassFlags& flags, size_t* findings) {
  Report report;
  if (!flags.rules_files.empty()) {
    ir::IrContext context;
    LoadAllDialects(context);
    ir::Program none(&context);
    WEFT_ASSIGN_OR_RETURN(auto rules, LoadRuleFiles(flags.rules_files, none, NoticesOf("ir-opt")));
    const std::unique_ptr<passes::Pass> pass = MakeRuleFilePass(std::move(rules));
    WEFT_RETURN_IF_ERROR(report.Add(*pass, context, flags));
  }
  std::set<std::string> done;
  for (const std::string& name : pass_names) {
    if (!done.insert(name).second) continue;
    ir::IrContext context;
    LoadAllDialects(context);
    const std::unique_ptr<passes::Pass> pass = passes::MakePass(name);
    WEFT_RETURN_IF_ERROR(report.Add(*pass, context, flags));
  }
  *findings = report.findings();
  return report.ToString();
}

}  // namespace weft::tools
