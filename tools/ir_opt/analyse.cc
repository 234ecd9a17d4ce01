#include "tools/ir_opt/analyse.h"

#include <fmt/format.h>

#include <set>

#include "ir/dialects/fused.h"
#include "ir/dialects/pd.h"
#include "passes/analyse_rules.h"
#include "passes/pass_registry.h"
#include "tools/common/table.h"

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

}  // namespace

absl::StatusOr<std::string> AnalyseRulesOf(const std::vector<std::string>& pass_names,
                                           const passes::PassContext& pass_context,
                                           size_t* findings) {
  *findings = 0;
  std::string text;
  std::set<std::string> done, not_analysed_names;
  Table not_analysed({"not analysed", "the closest program failed at"});
  for (const std::string& name : pass_names) {
    if (!done.insert(name).second) continue;
    const std::unique_ptr<passes::Pass> pass = passes::MakePass(name);
    if (!pass->patterns()) continue;
    ir::IrContext context;
    ir::LoadFusedDialect(context);
    ir::LoadPdDialect(context);
    WEFT_RETURN_IF_ERROR(pass->Initialize(context, pass_context));
    const passes::RuleAnalysis analysis = passes::AnalyseRules(context, *pass->patterns(), {});
    text += fmt::format("pass {}: {} of {} rules analysed, {} pairs, {} findings\n", name,
                        analysis.analysed, pass->patterns()->rules().size(), analysis.pairs,
                        analysis.findings.size());
    for (const RuleFinding& finding : analysis.findings) text += FindingText(finding);
    *findings += analysis.findings.size();
    for (const passes::SkippedRule& rule : analysis.not_analysed)
      if (not_analysed_names.insert(rule.rule).second) not_analysed.AddRow({rule.rule, rule.why});
  }
  if (!not_analysed_names.empty()) text += "\n" + not_analysed.ToString();
  return text;
}

}  // namespace weft::tools
