// Sets of rules: RewritePatternSet collects and builds them, FrozenRewritePatternSet indexes them
// by the operation they can start at.
//
//   RewritePatternSet set(&context);
//   set.Add<ComposeTransposes>();
//   FrozenRewritePatternSet frozen(std::move(set));
//
// A rule that does not build makes the set one that nothing is done with: status() has its mistakes,
// and so has what applies the set.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "drr/rule/rule.h"
#include "ir/base/status.h"

namespace weft::drr {

class RuleEngines;
class TreeAutomaton;

// What the engine may use of its fast paths, which know the most common rules only and do what the
// general matcher and applier do; less than all is for tests that compare them.
enum class FastPath : uint8_t { kAll, kMatcher, kNone };

// A rule for several sets, or its mistakes.
struct SharedRule {
  explicit SharedRule(BuildResult result);
  std::shared_ptr<const Rule> rule;
  std::vector<std::string> errors, warnings;
};

class RewritePatternSet {
 public:
  explicit RewritePatternSet(ir::IrContext* context) : context_(context) {}
  template <class P>
  void Add() {
    Add(P().Build(context_));
  }
  template <class P>
  void Add(ir::IrContext* context) {
    Add(P().Build(context));
  }
  void Add(BuildResult result);
  void Add(const SharedRule& shared);
  ir::IrContext* context() const { return context_; }
  // file:line: error: every mistake in every rule.
  const std::vector<std::string>& errors() const { return errors_; }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  friend class FrozenRewritePatternSet;
  ir::IrContext* context_;
  std::vector<std::shared_ptr<const Rule>> rules_;
  std::vector<std::string> errors_, warnings_;
};

// Keeps, from run to run, what the engine learns about the rules; so one thread works with a set at
// a time, as with the context it was made in.
class FrozenRewritePatternSet {
 public:
  FrozenRewritePatternSet();
  explicit FrozenRewritePatternSet(RewritePatternSet set);
  ~FrozenRewritePatternSet();
  FrozenRewritePatternSet(FrozenRewritePatternSet&&) noexcept;
  FrozenRewritePatternSet& operator=(FrozenRewritePatternSet&&) noexcept;

  // InvalidArgument with the first mistake when a rule of the set does not build.
  const absl::Status& status() const { return status_; }
  // In the order they were added.
  const std::vector<std::shared_ptr<const Rule>>& rules() const { return rules_; }
  // Numbers (in rules()) of those whose first root may be an op of this opcode: larger benefit
  // first, then in the order they were added.
  const std::vector<uint32_t>& StartingAt(ir::Opcode opcode) const {
    return opcode.id() < by_opcode_.size() ? by_opcode_[opcode.id()] : anywhere_;
  }
  // The engine's side (drr/engine/automaton.h, drr/engine/rule_engine.h).
  TreeAutomaton& automaton() const { return *automaton_; }
  RuleEngines& engines() const { return *engines_; }

  // Ops on the longest path of any source graph from a root down.
  int max_depth() const { return max_depth_; }

 private:
  void AddStart(uint32_t rule, const SourceOp& op);
  void SortByBenefit(std::vector<uint32_t>* list) const;

  absl::Status status_;
  std::vector<std::shared_ptr<const Rule>> rules_;  // which other sets may have, too
  std::vector<std::vector<uint32_t>> by_opcode_;
  std::vector<uint32_t> anywhere_;  // whose first root may be any op
  int max_depth_ = 0;
  std::unique_ptr<TreeAutomaton> automaton_;
  std::unique_ptr<RuleEngines> engines_;
};

}  // namespace weft::drr
