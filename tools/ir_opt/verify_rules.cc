#include "tools/ir_opt/verify_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/base/status.h"
#include "ir/base/suggest.h"
#include "passes/rule_registry.h"
#include "passes/transformation.h"
#include "passes/verify/judgement_cache.h"
#include "tools/cli/program_main.h"
#include "tools/cli/tables/table.h"
#include "weft/io/dialects.h"
#include "weft/optimize/judge_rules.h"
#include "weft/optimize/rule_file_pass.h"

namespace weft::tools {
namespace {

using passes::Verdict;

// The rules of these names, or all.
absl::StatusOr<std::vector<RuleToJudge>> RulesNamed(const std::vector<std::string>& names,
                                                    std::vector<RuleToJudge> all) {
  if (names.empty()) return all;
  std::vector<std::string> known;
  known.reserve(all.size());
  for (const RuleToJudge& rule : all) known.push_back(rule.name);
  std::vector<RuleToJudge> rules;
  for (const std::string& name : names) {
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) return ir::UnknownName("rule", name, known);
    rules.push_back(all[static_cast<size_t>(found - known.begin())]);
  }
  return rules;
}

absl::StatusOr<std::vector<RuleToJudge>> RegisteredRulesNamed(std::vector<std::string> names) {
  const std::vector<passes::Transformation> transformations = passes::Transformations();
  for (std::string& name : names) {
    name = std::string(passes::CanonicalRuleName(name));
    const bool is_pass = std::any_of(
        transformations.begin(), transformations.end(),
        [&](const passes::Transformation& it) { return it.name == name && it.IsPass(); });
    if (is_pass) return ir::InvalidArgument(fmt::format("'{}' is a pass; rules are judged", name));
  }
  std::vector<RuleToJudge> all;
  for (const passes::RegisteredRule& rule : passes::RegisteredRules())
    all.push_back({std::string(rule.name), rule.build});
  return RulesNamed(names, std::move(all));
}

absl::StatusOr<std::vector<RuleToJudge>> RulesOfFiles(const std::vector<std::string>& files,
                                                      const std::vector<std::string>& names) {
  ir::IrContext context;
  LoadAllDialects(context);
  ir::Program none(&context);
  WEFT_ASSIGN_OR_RETURN(const auto read, LoadRuleFiles(files, none, NoticesOf("ir-opt")));
  std::vector<RuleToJudge> all;
  all.reserve(read.size());
  for (const auto& rule : read) all.push_back(RuleOfText(*rule));
  return RulesNamed(names, std::move(all));
}

std::string Report(const std::vector<JudgedRule>& judged) {
  Table table({"rule", "numerics", "judgement", "programs", "symbolic", "comparisons", ""});
  std::string counterexamples;
  size_t remembered = 0;
  for (const JudgedRule& rule : judged) {
    const passes::RuleJudgement& it = rule.judgement;
    table.AddRow(
        {it.rule, std::string(drr::NumericClassName(it.numerics)), it.Badge(),
         std::to_string(it.instances), std::to_string(it.symbolic), std::to_string(it.comparisons),
         it.why.empty() && !it.unproved.empty() ? "not proved: " + it.unproved : it.why},
        it.verdict == Verdict::kRefuted    ? Style::kRed
        : it.verdict == Verdict::kUnjudged ? Style::kYellow
                                           : Style::kPlain);
    if (it.verdict == Verdict::kRefuted)
      counterexamples +=
          fmt::format("\n// {} is refuted: {}\n{}\n", it.rule, it.why, it.counterexample);
    remembered += rule.remembered;
  }
  std::string text = table.ToString(stdout) + counterexamples;
  if (remembered > 0)
    text += fmt::format("\n{} of {} judgements are those of earlier runs, in {}\n", remembered,
                        judged.size(), passes::JudgementCache::FolderOfUser());
  return text;
}

}  // namespace

absl::StatusOr<std::string> VerifyRules(const std::vector<std::string>& names,
                                        const std::vector<std::string>& files, uint64_t seed,
                                        size_t* refuted) {
  WEFT_ASSIGN_OR_RETURN(const std::vector<RuleToJudge> rules,
                        files.empty() ? RegisteredRulesNamed(names) : RulesOfFiles(files, names));
  const std::vector<JudgedRule> judged = JudgeRules(rules, {.seed = seed, .prove = true});
  *refuted = static_cast<size_t>(std::count_if(judged.begin(), judged.end(), [](const auto& it) {
    return it.judgement.verdict == Verdict::kRefuted;
  }));
  return Report(judged);
}

}  // namespace weft::tools
