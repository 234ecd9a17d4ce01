// A pass that applies rules greedily: all eligible rules of the groups it is given.
#pragma once

#include <string>
#include <vector>

#include "passes/pass.h"

namespace weft::passes {

struct RegisteredRule;

class PatternRewritePass : public Pass {
 public:
  // Rules of the registry (passes/rule_registry.h) that belong to one of `groups` or have one of
  // the `names`, are not disabled, are enabled if opt-in, and keep the numeric contract of the run.
  PatternRewritePass(std::string_view name, std::string_view description,
                     std::vector<std::string> groups, std::vector<std::string> names = {},
                     GreedyRewriteConfig config = {});
  // Rules of the caller.
  PatternRewritePass(std::string_view name, drr::FrozenRewritePatternSet patterns,
                     GreedyRewriteConfig config = {});

  // Freezes the rules, unless those of the run before are the same and of the same context, which then
  // must outlive the pass.
  absl::Status Initialize(ir::IrContext& context, const PassContext& pass_context) override;
  absl::Status Run(ir::Program& program) override;

  const std::vector<std::string>& groups() const { return groups_; }
  const drr::FrozenRewritePatternSet* patterns() const override { return &patterns_; }

 private:
  absl::Status Freeze(const std::vector<RegisteredRule>& eligible, ir::IrContext& context,
                      const PassContext& pass_context);

  std::vector<std::string> groups_, names_;
  GreedyRewriteConfig config_;
  drr::FrozenRewritePatternSet patterns_;
  // Of the rules in patterns_: their context, null when the next run freezes anew, and their names.
  const ir::IrContext* frozen_in_ = nullptr;
  std::vector<std::string_view> frozen_names_;
};

}  // namespace weft::passes
