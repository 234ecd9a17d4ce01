#include "tools/ir_opt/verify_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/base/suggest.h"
#include "kernels/runtime/program_runner.h"
#include "passes/rule_registry.h"
#include "passes/verify/rule_judge.h"
#include "tools/cli/dialects.h"
#include "tools/cli/parallel.h"
#include "tools/cli/rule_file_pass.h"
#include "tools/cli/table.h"

namespace weft::tools {
namespace {

using passes::RuleJudgement;
using passes::Verdict;

RuleJudgement Judged(const drr::Rule& rule, uint64_t seed) {
  kernels::SessionRunner runner;
  return passes::JudgeRule(rule,
                           {.runner = &runner, .seed = seed, .prove = true, .seeds = nullptr});
}

absl::StatusOr<std::vector<const passes::RegisteredRule*>> RulesNamed(
    const std::vector<std::string>& names, const std::vector<passes::RegisteredRule>& registered) {
  std::vector<const passes::RegisteredRule*> rules;
  std::vector<std::string> known;
  for (const passes::RegisteredRule& rule : registered) {
    known.emplace_back(rule.name);
    if (names.empty()) rules.push_back(&rule);
  }
  for (const std::string& name : names) {
    const std::string_view canonical = passes::CanonicalRuleName(name);
    const auto found = std::find_if(registered.begin(), registered.end(),
                                    [&](const auto& rule) { return rule.name == canonical; });
    if (found == registered.end()) return ir::UnknownName("rule", name, known);
    rules.push_back(&*found);
  }
  return rules;
}

absl::StatusOr<std::vector<RuleJudgement>> JudgeRegistered(const std::vector<std::string>& names,
                                                           uint64_t seed) {
  const std::vector<passes::RegisteredRule> registered = passes::RegisteredRules();
  WEFT_ASSIGN_OR_RETURN(const auto rules, RulesNamed(names, registered));
  std::vector<RuleJudgement> judgements(rules.size());
  ForEachInParallel(rules.size(), [&](size_t i) {
    ir::IrContext context;
    LoadAllDialects(context);
    const drr::BuildResult built = rules[i]->build(&context);
    WEFT_CHECK(built.ok(), "a registered rule does not build");
    judgements[i] = Judged(*built.rule, seed);
  });
  return judgements;
}

absl::StatusOr<std::vector<RuleJudgement>> JudgeFiles(const std::vector<std::string>& files,
                                                      const std::vector<std::string>& names,
                                                      uint64_t seed) {
  ir::IrContext context;
  LoadAllDialects(context);
  ir::Program none(&context);
  WEFT_ASSIGN_OR_RETURN(const auto all, LoadRuleFiles(files, none));
  std::vector<std::string> known;
  known.reserve(all.size());
  for (const auto& rule : all) known.push_back(rule->name);
  for (const std::string& name : names) WEFT_RETURN_IF_ERROR(ir::CheckName("rule", name, known));
  std::vector<RuleJudgement> judgements;
  for (const auto& rule : all)
    if (names.empty() || std::find(names.begin(), names.end(), rule->name) != names.end())
      judgements.push_back(Judged(*rule, seed));
  return judgements;
}

std::string Report(const std::vector<RuleJudgement>& judgements) {
  Table table({"rule", "numerics", "judgement", "programs", "symbolic", "comparisons", ""});
  std::string counterexamples;
  for (const RuleJudgement& it : judgements) {
    table.AddRow({it.rule, std::string(drr::NumericClassName(it.numerics)), it.Badge(),
                  std::to_string(it.instances), std::to_string(it.symbolic),
                  std::to_string(it.comparisons),
                  it.why.empty() && !it.unproved.empty() ? "not proved: " + it.unproved : it.why});
    if (it.verdict == Verdict::kRefuted)
      counterexamples +=
          fmt::format("\n// {} is refuted: {}\n{}\n", it.rule, it.why, it.counterexample);
  }
  return table.ToString() + counterexamples;
}

}  // namespace

absl::StatusOr<std::string> VerifyRules(const std::vector<std::string>& names,
                                        const std::vector<std::string>& files, uint64_t seed,
                                        size_t* refuted) {
  WEFT_ASSIGN_OR_RETURN(
      const std::vector<RuleJudgement> judgements,
      files.empty() ? JudgeRegistered(names, seed) : JudgeFiles(files, names, seed));
  *refuted =
      static_cast<size_t>(std::count_if(judgements.begin(), judgements.end(), [](const auto& it) {
        return it.verdict == Verdict::kRefuted;
      }));
  return Report(judgements);
}

}  // namespace weft::tools
