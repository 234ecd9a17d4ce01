// The pattern of a rule alone: any attributes, no constraints, and ops that are alike for those it
// names; and how much of the rule does not hold where that matches.
#pragma once

#include <utility>
#include <vector>

#include "drr/engine/matcher.h"
#include "drr/rule/rule.h"
#include "ir/program.h"

namespace weft::passes {

class RelaxedRule {
 public:
  explicit RelaxedRule(const drr::Rule& rule);  // which outlives it

  bool Match(ir::Operation site, drr::MatchContext* match) const {
    return drr::Matcher(relaxed_).Match(site, match);
  }
  const drr::Rule& rule() const { return relaxed_; }

  // How many things may not hold.
  size_t size() const {
    return rule_.graph.ops.size() + with_attr_.size() + rule_.graph.constraints.size();
  }
  // The values that the thing of this number is about, in a match.
  std::vector<ir::Value> About(size_t number, const drr::MatchContext& match) const;
  // Numbers of what does not hold, in order.
  std::vector<size_t> Broken(ir::Operation site, const drr::MatchContext& match) const;

 private:
  void Relax(drr::OpId id, ir::Name name);
  bool HasNativeConstraint() const;
  void AddOtherOps();

  const drr::Rule& rule_;
  drr::Rule relaxed_;
  std::vector<std::pair<drr::OpId, ir::Name>> relaxed_attrs_;
  std::vector<drr::Rule> with_attr_;  // relaxed but for one of those
};

}  // namespace weft::passes
