#include "weft/judge.h"

#include <algorithm>

#include "drr/text/rule_text.h"
#include "weft/io/dialects.h"
#include "weft/optimize/judge_rules.h"
#include "weft/optimize/rule_file_pass.h"

namespace weft {
namespace {

std::string VerdictText(passes::Verdict verdict) {
  switch (verdict) {
    case passes::Verdict::kTested:
      return "tested";
    case passes::Verdict::kRefuted:
      return "refuted";
    case passes::Verdict::kUnjudged:
      break;
  }
  return "unjudged";
}

Judgement PublicJudgement(const passes::RuleJudgement& it) {
  return {.rule = it.rule,
          .numerics = std::string(drr::NumericClassName(it.numerics)),
          .verdict = VerdictText(it.verdict),
          .badge = it.Badge(),
          .why = it.why,
          .counterexample = it.counterexample,
          .programs = it.instances,
          .comparisons = it.comparisons};
}

}  // namespace

void LoadOperators(ir::IrContext& context) { LoadAllDialects(context); }

absl::StatusOr<std::string> Print(const RuleText& rules, const Notices& notices) {
  ir::IrContext context;
  LoadAllDialects(context);
  ir::Program none(&context);
  WEFT_ASSIGN_OR_RETURN(const auto read, LoadRules({}, {rules}, none, notices));
  std::string text;
  for (const auto& rule : read) text += (text.empty() ? "" : "\n") + drr::text::PrintRule(*rule);
  return text;
}

absl::StatusOr<std::vector<Judgement>> Judge(const RuleText& rules, const JudgeOptions& options) {
  ir::IrContext context;
  LoadAllDialects(context);
  ir::Program none(&context);
  WEFT_ASSIGN_OR_RETURN(const auto read, LoadRules({}, {rules}, none, options.notices));
  std::vector<RuleToJudge> all;
  all.reserve(read.size());
  for (const auto& rule : read) all.push_back(RuleOfText(*rule));
  const std::vector<JudgedRule> judged = JudgeRules(
      all, {.seconds_a_rule = options.seconds_a_rule, .seed = options.seed, .stop = options.stop});
  if (options.stop && options.stop())
    return absl::CancelledError("the run was stopped while rules were judged");
  std::vector<Judgement> judgements;
  std::transform(judged.begin(), judged.end(), std::back_inserter(judgements),
                 [](const JudgedRule& it) { return PublicJudgement(it.judgement); });
  return judgements;
}

}  // namespace weft
