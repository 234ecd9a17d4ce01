#include "passes/pattern_rewrite_pass.h"

#include <algorithm>

#include "ir/base/contains.h"
#include "passes/built_rules.h"

namespace weft::passes {

PatternRewritePass::PatternRewritePass(std::string_view name, std::string_view description,
                                       std::vector<std::string> groups,
                                       std::vector<std::string> names, GreedyRewriteConfig config)
    : Pass(name, description),
      groups_(std::move(groups)),
      names_(std::move(names)),
      config_(config) {}

PatternRewritePass::PatternRewritePass(std::string_view name, drr::FrozenRewritePatternSet patterns,
                                       GreedyRewriteConfig config)
    : Pass(name), config_(config), patterns_(std::move(patterns)) {}

absl::Status PatternRewritePass::Initialize(ir::IrContext& context,
                                            const PassContext& pass_context) {
  config_.record_rules |= pass_context.record_rules;
  config_.collect_statistics |= pass_context.collect_statistics;
  config_.paranoid |= pass_context.paranoid;
  config_.trace = pass_context.trace;
  if (pass_context.seed) config_.seed = pass_context.seed;
  if (groups_.empty() && names_.empty()) return patterns_.status();
  skipped_.clear();
  std::vector<RegisteredRule> eligible;
  for (RegisteredRule& rule : RegisteredRules()) {
    if (!ir::Contains(groups_, rule.group) && !ContainsRule(names_, rule.name)) continue;
    std::string why = WhyNotEligible(rule.name, rule.numerics, rule.opt_in, pass_context);
    if (why.empty())
      eligible.push_back(std::move(rule));
    else
      skipped_.push_back({std::string(rule.name), std::move(why)});
  }
  return Freeze(eligible, context, pass_context);
}

absl::Status PatternRewritePass::Freeze(const std::vector<RegisteredRule>& eligible,
                                        ir::IrContext& context, const PassContext& pass_context) {
  std::vector<std::string_view> names;
  names.reserve(eligible.size());
  for (const RegisteredRule& rule : eligible) names.push_back(rule.name);
  // What a caller's function says is known only from the built rule.
  const bool keeps = !pass_context.why_not_rule;
  if (keeps && frozen_in_ == &context && names == frozen_names_) return patterns_.status();
  drr::RewritePatternSet set(&context);
  BuiltRules own;
  BuiltRules& all = pass_context.built_rules ? *pass_context.built_rules : own;
  for (const RegisteredRule& rule : eligible) {
    const drr::SharedRule& built = all.Build(rule, &context);
    std::string why;
    if (built.rule && pass_context.why_not_rule) why = pass_context.why_not_rule(*built.rule);
    if (!why.empty()) {
      skipped_.push_back({std::string(rule.name), std::move(why)});
      continue;
    }
    set.Add(built);
  }
  patterns_ = drr::FrozenRewritePatternSet(std::move(set));
  frozen_in_ = keeps ? &context : nullptr;
  frozen_names_ = std::move(names);
  return patterns_.status();
}

absl::Status PatternRewritePass::Run(ir::Program& program) {
  WEFT_ASSIGN_OR_RETURN(GreedyRewriteResult result,
                        ApplyPatternsGreedily(program, patterns_, config_));
  if (result.changed) MarkChanged();
  rules_ = std::move(result.rules);
  return absl::OkStatus();
}

}  // namespace weft::passes
