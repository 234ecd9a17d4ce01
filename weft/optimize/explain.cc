#include "weft/optimize/explain.h"

#include <fmt/format.h>

#include "drr/engine/explain.h"
#include "ir/base/suggest.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"
#include "passes/pattern_rewrite_pass.h"
#include "passes/rule_registry.h"
#include "passes/transformation.h"
#include "weft/io/named_values.h"

namespace weft {
namespace {

using drr::Explanation;
using ir::Operation;
using ir::Program;
using ir::Value;

const drr::Rule* RuleOf(const passes::Pass& pass, std::string_view name) {
  if (!pass.patterns()) return nullptr;
  for (const auto& rule : pass.patterns()->rules())
    if (rule->name == name) return rule.get();
  return nullptr;
}

// The passes there are that run the rule's group.
std::vector<std::string> PassesWith(std::string_view group) {
  std::vector<std::string> names;
  for (const passes::RegisteredPass& registered : passes::RegisteredPasses()) {
    const std::unique_ptr<passes::Pass> pass = registered.make();
    const auto* rewrite = dynamic_cast<const passes::PatternRewritePass*>(pass.get());
    if (!rewrite) continue;
    for (const std::string& g : rewrite->groups())
      if (g == group) names.push_back(registered.name);
  }
  return names;
}

Explanation Explain(const drr::Rule& rule, Program& program, Value value) {
  return value ? drr::ExplainValue(rule, value) : drr::ExplainNearest(rule, program);
}

}  // namespace

absl::StatusOr<RuleExplainer> RuleExplainer::Create(const std::string& what,
                                                    std::span<const std::string> rules) {
  RuleExplainer explainer;
  const size_t at = what.find('@');
  explainer.rule_name_ = passes::CanonicalRuleName(what.substr(0, at));
  if (!rules.empty()) WEFT_RETURN_IF_ERROR(passes::CheckRuleName(explainer.rule_name_, rules));
  if (at == std::string::npos) return explainer;
  explainer.value_name_ = what.substr(at + 1);
  if (explainer.value_name_.empty())
    return ir::InvalidArgument(fmt::format("'{}': expected RULE@VALUE", what));
  return explainer;
}

passes::PassManager::Hook RuleExplainer::hook() {
  return [this](const passes::Pass& pass, bool after, bool /*changed*/, Program& program) {
    if (after || start_) return;
    const drr::Rule* rule = RuleOf(pass, rule_name_);
    if (!rule) return;
    rule_ = std::make_shared<drr::Rule>(*rule);  // the pass does not outlive the run
    start_ = Start{pass.name(), program.Clone(), {}};
    ir::Walk(program, [&](Operation op) { start_->originals.push_back(op); });
  };
}

// A rule that no pass had; one of a file is gone with the pass that left it out.
void RuleExplainer::FindRule(ir::IrContext& context) {
  const passes::RegisteredRule* registered = passes::FindRule(rule_name_);
  if (!rule_ && registered) rule_ = registered->build(&context).rule;
}

absl::StatusOr<Value> RuleExplainer::FindValue(Program& after) const {
  if (value_name_.empty()) return Value();
  if (const Value named = ValueOfName(after, value_name_)) return named;
  const auto number = ValueNumberOf(value_name_);
  if (!number) {
    std::vector<std::string> names = ValueNames(after);
    if (start_) {
      if (ValueOfName(*start_->copy, value_name_)) return Value();  // gone since
      for (std::string& name : ValueNames(*start_->copy)) names.push_back(std::move(name));
    }
    return ir::UnknownName("value", value_name_, names);
  }
  if (const Value found = ValueOfNumber(after, *number)) return found;
  return ir::InvalidArgument(fmt::format("unknown value '{}'; after the run there is %0 to %{}",
                                         value_name_, ValuesOf(after).size() - 1));
}

// The same value in the program that the first pass with the rule begins with: the very same one or
// else the bearer of its name; null if there is neither.
Value RuleExplainer::AtStart(Value after) const {
  const std::string name(after ? after.name() : value_name_);
  Value found = name.empty() ? Value() : ValueOfName(*start_->copy, name);
  if (!after) return found;
  if (after.IsBlockArgument()) return found;
  const Operation defining_op = after.DefiningOp();
  size_t i = 0;
  ir::Walk(*start_->copy, [&](Operation copy) {
    const Operation original = start_->originals[i++];
    if (original.IsAlive() && original == defining_op) found = copy.result(after.index());
  });
  return found;
}

// Which passes had the rule, and what came of it.
void RuleExplainer::AddHistory(const std::vector<passes::PassReport>& reports,
                               RuleAnswer* answer) const {
  for (const passes::PassReport& report : reports) {
    for (const passes::RuleStatistics& rule : report.rules)
      if (rule.rule == rule_name_) answer->passes.push_back({report.pass, rule.applied, ""});
    for (const passes::SkippedRule& rule : report.skipped)
      if (rule.rule == rule_name_) answer->passes.push_back({report.pass, std::nullopt, rule.why});
  }
  const passes::RegisteredRule* registered = passes::FindRule(rule_name_);
  if (answer->passes.empty() && registered)
    answer->not_run = fmt::format("no pass of this run has it, but {} would",
                                  fmt::join(PassesWith(registered->group), ", "));
}

// `no_value` says what is so when a value was asked for that is null.
RuleAnswer::Look RuleExplainer::LookAt(std::string when, Program& program, Value value,
                                       const char* no_value) const {
  RuleAnswer::Look look{.when = std::move(when)};
  if (!value_name_.empty() && !value) {
    look.outcome = RuleAnswer::Look::kNoValue;
    look.text = fmt::format(fmt::runtime(no_value), value_name_);
    return look;
  }
  const Explanation explanation = Explain(*rule_, program, value);
  look.outcome = explanation.outcome == Explanation::kApplies   ? RuleAnswer::Look::kApplies
                 : explanation.outcome == Explanation::kRefused ? RuleAnswer::Look::kRefused
                                                                : RuleAnswer::Look::kNoSite;
  look.parts = drr::PartsOf(explanation);
  look.text = drr::ToString(explanation);
  return look;
}

absl::StatusOr<RuleAnswer> RuleExplainer::Answer(Program& after, std::span<const std::string> rules,
                                                 const std::vector<passes::PassReport>& reports) {
  WEFT_RETURN_IF_ERROR(passes::CheckRuleName(rule_name_, rules));
  FindRule(*after.context());
  WEFT_ASSIGN_OR_RETURN(const Value value, FindValue(after));
  RuleAnswer answer{.rule = rule_name_, .value = value_name_};
  AddHistory(reports, &answer);
  if (!rule_) return answer;
  if (start_)
    answer.looks.push_back(LookAt("before pass " + start_->pass, *start_->copy,
                                  value_name_.empty() ? Value() : AtStart(value),
                                  "there was no value {} yet\n"));
  answer.looks.push_back(LookAt("after the run", after, value, "value {} is gone\n"));
  return answer;
}

std::string RuleAnswer::ToString() const {
  std::string text;
  for (const Pass& pass : passes) {
    if (pass.applied) {
      text += fmt::format("pass {}: {} was applied {} time{}\n", pass.pass, rule, *pass.applied,
                          *pass.applied == 1 ? "" : "s");
    } else {
      text += fmt::format("pass {}: {} was not run: {}\n", pass.pass, rule, pass.not_run);
    }
  }
  if (!not_run.empty()) text += fmt::format("{} was not run: {}\n", rule, not_run);
  for (const Look& look : looks) text += "\n" + look.when + "\n" + look.text;
  return text;
}

}  // namespace weft
