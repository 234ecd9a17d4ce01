// What one rule needs at run time: its matchers, the match under way, and the applier, with their
// buffers. Made once per rule of a frozen set and used again and again.
#pragma once

#include <optional>
#include <string>

#include "drr/apply.h"
#include "drr/matcher.h"
#include "drr/plain_matcher.h"

namespace weft::drr {

class RuleEngine {
 public:
  explicit RuleEngine(const Rule& rule) : matcher_(rule), match_(&rule), applier_(rule) {
    if (PlainMatcher::Supports(rule)) plain_.emplace(rule);
  }

  // True when the rule matches with its first root at `op`; match() tells how until the next call.
  // `failure` (may be null) receives the reason otherwise, which takes a slower way.
  bool Match(const ir::GraphView& view, uint32_t op, MatchFailure* failure = nullptr) {
    if (plain_ && !failure) return plain_->Match(view, op, &match_);
    match_.Reset();
    return matcher_.Match(view.OperationAt(op), &match_, failure);
  }
  const MatchContext& match() const { return match_; }
  // Applies match(): false when the rule declines, and *reason (may be null) says why.
  bool Apply(ir::Rewriter& rewriter, std::string* reason) {
    return applier_.Apply(match_, rewriter, reason);
  }

 private:
  Matcher matcher_;
  std::optional<PlainMatcher> plain_;
  MatchContext match_;
  RuleApplier applier_;
};

}  // namespace weft::drr
