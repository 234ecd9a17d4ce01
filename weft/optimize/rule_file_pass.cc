#include "weft/optimize/rule_file_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "drr/rule_file.h"
#include "drr/text/literal.h"
#include "ir/walk.h"
#include "passes/pattern_rewrite_pass.h"
#include "weft/base/files.h"

namespace weft {
namespace {

// A new node gets its name as it is where there is one, else with _0, _1, ... in program order.
class NodeNames {
 public:
  explicit NodeNames(const std::vector<std::unique_ptr<drr::Rule>>& rules) {
    for (const auto& rule : rules)
      for (const drr::ResultOp& op : rule->graph.result_ops)
        if (!op.location.empty()) names_.insert(op.location);
  }

  void Before(ir::Program& program) {
    if (names_.empty()) return;
    ir::Walk(program, [&](ir::Operation op) {
      if (!NameOf(op).empty()) old_.emplace(op.id(), op);
    });
  }

  void After(ir::Program& program) {
    if (names_.empty()) return;
    std::map<std::string, std::vector<ir::Operation>> made;
    ir::Walk(program, [&](ir::Operation op) {
      const auto it = old_.find(op.id());
      const bool is_old = it != old_.end() && it->second.IsAlive();
      if (const std::string name = NameOf(op); !name.empty() && !is_old) made[name].push_back(op);
    });
    for (auto& [name, ops] : made)
      for (size_t i = 0; ops.size() > 1 && i < ops.size(); ++i) {
        std::string location(ops[i].location().str());
        location.insert(name.size(), fmt::format("_{}", i));
        program.SetLocation(ops[i], ir::Name(location));
      }
  }

 private:
  // Of the names that rules give; "" for any other.
  std::string NameOf(ir::Operation op) const {
    const std::string name(op.location().str());
    return names_.count(name) ? name : std::string();
  }

  std::set<std::string> names_;
  std::map<uint32_t, ir::Operation> old_;
};

class RuleFilePass : public passes::Pass {
 public:
  RuleFilePass(std::vector<std::unique_ptr<drr::Rule>> rules, RuleCounts counts)
      : Pass("rules-file", "the rules of files"),
        names_(rules),
        rules_(std::move(rules)),
        counts_(std::move(counts)) {}

  absl::Status Initialize(ir::IrContext& context, const passes::PassContext& run) override {
    drr::RewritePatternSet set(&context);
    for (std::unique_ptr<drr::Rule>& rule : rules_) {
      std::string why = passes::WhyNotEligible(rule->name, rule->numerics, false, run);
      if (why.empty() && run.why_not_rule) why = run.why_not_rule(*rule);
      if (!why.empty()) {
        skipped_.push_back({rule->name, std::move(why)});
        continue;
      }
      drr::BuildResult built;
      built.rule = ir::Owned<drr::Rule>(rule.release());
      set.Add(std::move(built));
    }
    rewrite_ = std::make_unique<passes::PatternRewritePass>(
        name(), drr::FrozenRewritePatternSet(std::move(set)));
    return rewrite_->Initialize(context, run);
  }

  absl::Status Run(ir::Program& program) override {
    for (const auto& [what, count] : counts_) Count(what, count);
    names_.Before(program);
    WEFT_RETURN_IF_ERROR(rewrite_->Run(program));
    names_.After(program);
    if (rewrite_->changed()) MarkChanged();
    Pass::rules_ = rewrite_->rule_statistics();
    return absl::OkStatus();
  }

  const drr::FrozenRewritePatternSet* patterns() const override {
    return rewrite_ ? rewrite_->patterns() : nullptr;
  }

 private:
  NodeNames names_;
  std::vector<std::unique_ptr<drr::Rule>> rules_;
  RuleCounts counts_;
  std::unique_ptr<passes::PatternRewritePass> rewrite_;
};

// Appends the rules of one text.
absl::Status LoadRuleText(const RuleText& text, const Notices& notices, ir::Program& program,
                          std::vector<std::unique_ptr<drr::Rule>>* rules) {
  drr::text::RuleFile file =
      drr::text::ReadRules(text.text, text.origin, program.context(), &program, &text.functions);
  for (const std::string& warning : file.warnings) notices.Warn(warning);
  for (size_t i = 0; i + 1 < file.errors.size(); ++i) notices.Fail(file.errors[i]);
  if (!file.errors.empty()) return ir::InvalidArgument(file.errors.back());
  for (std::unique_ptr<drr::Rule>& rule : file.rules) {
    for (const auto& other : *rules)
      if (other->name == rule->name)
        return ir::InvalidArgument(
            fmt::format("{}: a rule before it is called '{}' too", text.origin, rule->name));
    rules->push_back(std::move(rule));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<std::unique_ptr<drr::Rule>>> LoadRules(
    const std::vector<std::string>& paths, const std::vector<RuleText>& texts, ir::Program& program,
    const Notices& notices) {
  std::vector<std::unique_ptr<drr::Rule>> rules;
  for (const std::string& path : paths) {
    WEFT_ASSIGN_OR_RETURN(std::string text, ReadText(path, drr::text::kMaxRuleFileBytes));
    WEFT_RETURN_IF_ERROR(
        LoadRuleText({.text = std::move(text), .origin = path}, notices, program, &rules));
  }
  for (const RuleText& text : texts)
    WEFT_RETURN_IF_ERROR(LoadRuleText(text, notices, program, &rules));
  return rules;
}

std::unique_ptr<passes::Pass> MakeRuleFilePass(std::vector<std::unique_ptr<drr::Rule>> rules,
                                               RuleCounts counts) {
  return std::make_unique<RuleFilePass>(std::move(rules), std::move(counts));
}

}  // namespace weft
