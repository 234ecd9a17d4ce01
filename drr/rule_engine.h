// What one rule needs at run time: its matchers, the match under way, and the applier, with their
// buffers. Made once per rule of a frozen set and used again and again.
#pragma once

#include <optional>
#include <string>

#include "drr/apply.h"
#include "drr/matcher.h"
#include "drr/plain_applier.h"
#include "drr/plain_matcher.h"

namespace weft::drr {

class RuleEngine {
 public:
  RuleEngine(const Rule& rule, PlainMatch* shared) : matcher_(rule), match_(&rule) {
    if (!PlainMatcher::Supports(rule)) return;
    plain_matcher_.emplace(rule, shared);
    if (PlainApplier::Supports(rule)) plain_applier_.emplace(rule, *plain_matcher_, *shared);
  }

  // True when the rule matches with its first root at `op`. `failure` (may be null) receives the
  // reason otherwise, which takes a slower way.
  bool Match(const ir::GraphView& view, uint32_t op, MatchFailure* failure = nullptr) {
    if (!plain_matcher_) return MatchSlowly(view, op, failure);
    if (plain_matcher_->Match(view, op, &match_)) return true;
    if (failure) MatchSlowly(view, op, failure);
    return false;
  }
  // Applies the match that was found: false when the rule declines, and *reason (may be null) says
  // why. Nothing may have changed in between.
  bool Apply(const ir::GraphView& view, ir::Rewriter& rewriter, std::string* reason) {
    if (plain_applier_) return plain_applier_->Apply(view, &match_, rewriter, reason);
    if (plain_matcher_) plain_matcher_->Fill(&match_);
    return drr::Apply(match_, rewriter, reason);
  }

 private:
  bool MatchSlowly(const ir::GraphView& view, uint32_t op, MatchFailure* failure) {
    match_.Reset();
    return matcher_.Match(view.OperationAt(op), &match_, failure);
  }

  std::optional<PlainMatcher> plain_matcher_;
  std::optional<PlainApplier> plain_applier_;
  Matcher matcher_;
  MatchContext match_;
};

}  // namespace weft::drr
