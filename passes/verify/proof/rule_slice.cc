#include "passes/verify/proof/rule_slice.h"

#include <algorithm>
#include <map>
#include <vector>

namespace weft::passes {

using drr::AttrPattern;
using drr::Formula;
using drr::OpId;
using drr::SourceOp;
using drr::SourceValue;
using drr::ValueId;
using Argument = drr::Formula::Argument;

namespace {

// The values that one of which a value is, or that with ops skipped.
std::vector<ValueId> ChoicesOf(const SourceValue& value) {
  std::vector<ValueId> choices = value.either;
  if (value.through) choices.push_back(value.through);
  return choices;
}

// The operands of an op of the result that is valid only where they fit together (AssumeResultIsValid).
Formula OperandsThatFit(const drr::ResultOp& result) {
  Formula formula;
  if (!result.def || result.def->name() != "fused.attention") return formula;
  for (size_t i = 0; i < std::min<size_t>(result.operands.size(), 3); ++i)
    if (result.operands[i].kind == drr::ResultOperand::kSource)
      formula.arguments.push_back({.kind = Argument::kValue, .value = result.operands[i].source});
  return formula;
}

using Values = drr::IdVector<SourceValue, bool>;

class WhatIsThere {
 public:
  explicit WhatIsThere(const drr::PatternGraph& graph) : graph_(graph) {}

  // Wherever `value` is: of several alternatives what each of them has.
  Values With(ValueId value) {
    value = graph_.Resolve(value);
    const auto at = known_.find(value.index());
    if (at != known_.end()) return at->second;
    Values there(graph_.values.size());
    there[value] = true;
    const SourceValue& v = graph_.values[value];
    if (v.optional) {
      // May be absent with all below it.
    } else if (!v.either.empty()) {
      Values each = With(v.either[0]);
      for (const ValueId choice : v.either) {
        const Values with = With(choice);
        for (const ValueId id : graph_.values.ids()) each[id] = each[id] && with[id];
      }
      AddTo(&there, each);
    } else {
      if (v.through) AddTo(&there, With(v.through));
      if (v.producer) AddOp(v.producer, &there);
    }
    return known_[value.index()] = there;
  }

 private:
  void AddOp(OpId op, Values* there) {
    for (const ValueId operand : graph_.ops[op].operands)
      if (operand) AddTo(there, With(operand));
    for (const ValueId result : graph_.ops[op].results)
      if (result) (*there)[graph_.Resolve(result)] = true;
  }
  void AddTo(Values* there, const Values& with) const {
    for (const ValueId id : graph_.values.ids()) (*there)[id] = (*there)[id] || with[id];
  }

  const drr::PatternGraph& graph_;
  std::map<size_t, Values> known_;
};

}  // namespace

Values ValuesAlwaysThere(const drr::PatternGraph& graph) {
  WhatIsThere what(graph);
  Values always(graph.values.size());
  const auto add = [&](ValueId root) {
    const Values there = what.With(root);
    for (const ValueId id : graph.values.ids()) always[id] = always[id] || there[id];
  };
  if (graph.root_value()) add(graph.root_value());
  for (const OpId root : graph.roots())
    if (graph.values[graph.root_value()].either.empty())
      for (const ValueId result : graph.ops[root].results)
        if (result) add(result);
  return always;
}

RuleSlice::RuleSlice(const drr::PatternGraph& graph, const Formula& constraint)
    : graph_(graph),
      ops_(graph.ops.size()),
      values_(graph.values.size()),
      choices_(graph.values.size()),
      always_(ValuesAlwaysThere(graph)),
      attrs_(graph.attrs.size()) {
  Add(constraint);
  // An axis or a permutation is what an op has it as.
  for (const OpId op : graph_.ops.ids())
    for (const drr::Alternative& alternative : graph_.ops[op].alternatives)
      for (const AttrPattern& attr : alternative.attrs)
        if (attr.kind == AttrPattern::kBind && attrs_[attr.variable]) Add(op);
  AddWhatDecides();
}

bool RuleSlice::Grow() {
  const RuleSlice before = *this;  // what is added touches more
  has_grown_ = false;
  for (const OpId op : graph_.ops.ids())
    if (before.Touches(op)) Add(op);
  for (const ValueId value : graph_.values.ids())
    if (before.TouchesChoices(value)) AddChoices(value);
  for (const drr::Constraint& constraint : graph_.constraints)
    if (!constraint.profitable && before.Touches(constraint.formula)) Add(constraint.formula);
  for (const drr::ResultOp& result : graph_.result_ops)
    if (const Formula fit = OperandsThatFit(result); before.Touches(fit)) Add(fit);
  AddWhatDecides();
  return has_grown_;
}

bool RuleSlice::Has(const Formula& constraint) const {
  return std::all_of(
      constraint.arguments.begin(), constraint.arguments.end(), [&](const Argument& argument) {
        return argument.kind != Argument::kValue || values_[graph_.Resolve(argument.value)];
      });
}

void RuleSlice::AddWhatDecides() {
  for (bool is_new = true; is_new;) {
    is_new = false;
    const auto decides = [&](ValueId below) {
      below = below ? graph_.Resolve(below) : below;
      return below && values_[below] && !always_[below];
    };
    for (const OpId op : graph_.ops.ids()) {
      const auto& operands = graph_.ops[op].operands;
      if (ops_[op] || std::none_of(operands.begin(), operands.end(), decides)) continue;
      Add(op);
      is_new = true;
    }
    for (const ValueId value : graph_.values.ids()) {
      const std::vector<ValueId> choices = ChoicesOf(graph_.values[value]);
      if (choices_[value] || std::none_of(choices.begin(), choices.end(), decides)) continue;
      AddChoices(value);
      is_new = true;
    }
  }
}

void RuleSlice::Add(ValueId value) {
  if (!value) return;
  value = graph_.Resolve(value);
  has_grown_ |= !values_[value];
  values_[value] = true;
}
void RuleSlice::Add(OpId op) {
  has_grown_ |= !ops_[op];
  ops_[op] = true;
  for (const ValueId value : graph_.ops[op].operands) Add(value);
  for (const ValueId value : graph_.ops[op].results) Add(value);
  for (const drr::Alternative& alternative : graph_.ops[op].alternatives)
    for (const AttrPattern& attr : alternative.attrs)
      if (attr.kind == AttrPattern::kBind) attrs_[attr.variable] = true;
}
void RuleSlice::AddChoices(ValueId value) {
  has_grown_ |= !choices_[value];
  choices_[value] = true;
  Add(value);
  for (const ValueId choice : ChoicesOf(graph_.values[value])) Add(choice);
}
void RuleSlice::Add(const Formula& constraint) {
  for (const Argument& argument : constraint.arguments) {
    if (argument.kind == Argument::kValue) Add(argument.value);
    if (argument.kind == Argument::kVariable) attrs_[argument.variable] = true;
  }
}

bool RuleSlice::Touches(OpId op) const {
  const auto has = [&](ValueId value) { return value && values_[graph_.Resolve(value)]; };
  const SourceOp& source = graph_.ops[op];
  if (std::any_of(source.operands.begin(), source.operands.end(), has) ||
      std::any_of(source.results.begin(), source.results.end(), has))
    return true;
  for (const drr::Alternative& alternative : source.alternatives)
    for (const AttrPattern& attr : alternative.attrs)
      if (attr.kind == AttrPattern::kBind && attrs_[attr.variable]) return true;
  return false;
}
bool RuleSlice::TouchesChoices(ValueId value) const {
  const std::vector<ValueId> choices = ChoicesOf(graph_.values[value]);
  if (choices.empty()) return false;
  return values_[value] || std::any_of(choices.begin(), choices.end(), [&](ValueId choice) {
           return values_[graph_.Resolve(choice)];
         });
}
bool RuleSlice::Touches(const Formula& constraint) const {
  return std::any_of(
      constraint.arguments.begin(), constraint.arguments.end(), [&](const Argument& argument) {
        if (argument.kind == Argument::kVariable) return attrs_[argument.variable];
        return argument.kind == Argument::kValue && values_[graph_.Resolve(argument.value)];
      });
}

}  // namespace weft::passes
