#include "passes/verify/search/relaxed_rule.h"

#include <algorithm>
#include <set>

#include "passes/verify/mutation/mistakes.h"

namespace weft::passes {

using drr::AttrPattern;
using drr::Rule;
using ir::Operation;

RelaxedRule::RelaxedRule(const Rule& rule) : rule_(rule), relaxed_(rule) {
  relaxed_.graph.constraints.clear();
  std::set<size_t> bound;  // a variable stays where it is bound first
  for (const drr::OpId id : rule_.graph.ops.ids()) {
    if (rule_.graph.ops[id].alternatives.empty()) continue;
    const std::vector<AttrPattern> attrs = rule_.graph.ops[id].alternatives[0].attrs;
    for (const AttrPattern& pattern : attrs)
      if (pattern.kind == AttrPattern::kIsOneOf ||
          (pattern.kind == AttrPattern::kBind && !bound.insert(pattern.variable.index()).second))
        Relax(id, pattern.name);
  }
  for (const auto& [id, name] : relaxed_attrs_) {
    Rule& with = with_attr_.emplace_back(relaxed_);
    for (size_t i = 0; i < rule_.graph.ops[id].alternatives.size(); ++i)
      for (size_t k = 0; k < rule_.graph.ops[id].alternatives[i].attrs.size(); ++k)
        if (const AttrPattern& old = rule_.graph.ops[id].alternatives[i].attrs[k]; old.name == name)
          with.graph.ops[id].alternatives[i].attrs[k] = old;
  }
  if (!HasNativeConstraint()) AddOtherOps();
}

std::vector<ir::Value> RelaxedRule::About(size_t number, const drr::MatchContext& match) const {
  std::vector<ir::Value> values;
  const size_t ops = rule_.graph.ops.size(), attrs = with_attr_.size();
  if (number < ops + attrs) {
    const Operation op =
        match.op(number < ops ? drr::OpId(number) : relaxed_attrs_[number - ops].first);
    if (op && op.num_results() > 0) values.push_back(op.result(0));
    return values;
  }
  for (const auto& argument : rule_.graph.constraints[number - ops - attrs].formula.arguments) {
    const bool is_value = argument.kind == drr::Formula::Argument::kValue;
    const drr::ValueId id = is_value ? rule_.graph.Resolve(argument.value) : drr::ValueId();
    if (is_value && match.bound(id) && match.value(id)) values.push_back(match.value(id));
  }
  return values;
}

std::vector<size_t> RelaxedRule::Broken(Operation site, const drr::MatchContext& match) const {
  std::vector<size_t> broken;
  size_t number = 0;
  for (const drr::OpId id : rule_.graph.ops.ids()) {
    const auto& fit = rule_.graph.ops[id].alternatives;
    const Operation op = match.op(id);
    if (op && !fit.empty() &&
        std::none_of(fit.begin(), fit.end(), [&](const auto& a) { return a.def == op.def(); }))
      broken.push_back(number);
    ++number;
  }
  for (const Rule& with : with_attr_) {
    drr::MatchContext there(&with);
    if (broken.empty() && !drr::Matcher(with).Match(site, &there)) broken.push_back(number);
    ++number;
  }
  for (const drr::Constraint& constraint : rule_.graph.constraints) {
    // Native code may rely on what stands before it.
    const bool is_native = constraint.formula.name.empty();
    if (!constraint.profitable && ((is_native && !broken.empty()) || !constraint.holds(match)))
      broken.push_back(number);
    ++number;
  }
  return broken;
}

void RelaxedRule::Relax(drr::OpId id, ir::Name name) {
  relaxed_attrs_.emplace_back(id, name);
  for (drr::Alternative& alternative : relaxed_.graph.ops[id].alternatives)
    for (AttrPattern& attr : alternative.attrs)
      if (attr.name == name) attr.kind = AttrPattern::kAny;
}

bool RelaxedRule::HasNativeConstraint() const {
  const auto& all = rule_.graph.constraints;
  return rule_.graph.num_lets > 0 ||
         std::any_of(all.begin(), all.end(), [](const auto& c) { return c.formula.name.empty(); });
}

void RelaxedRule::AddOtherOps() {
  for (const drr::OpId id : rule_.graph.ops.ids())
    for (const drr::Alternative& alternative : rule_.graph.ops[id].alternatives)
      for (const ir::OpDef* other : OtherOps(*rule_.graph.context(), *alternative.def))
        relaxed_.graph.ops[id].alternatives.push_back({other, {}});
}

}  // namespace weft::passes
