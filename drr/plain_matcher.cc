#include "drr/plain_matcher.h"

#include <algorithm>

namespace weft::drr {

bool PlainMatcher::Supports(const Rule& rule) {
  const PatternGraph& graph = rule.graph;
  if (!graph.IsPlain()) return false;
  for (const SourceOp& op : graph.ops)
    if (op.results.empty()) return false;
  for (const SourceValue& v : graph.values)
    if (v.optional && v.producer >= 0) return false;
  for (const SourceOp& op : graph.ops) {
    if (op.alternatives.size() == 1) continue;
    for (const Alternative& alternative : op.alternatives)
      for (const AttrPattern& attr : alternative.attrs)
        if (attr.kind == AttrPattern::kBind) return false;
  }
  return true;
}

PlainMatcher::PlainMatcher(const Rule& rule)
    : graph_(rule.graph),
      plans_(graph_.ops.size()),
      value_planned_(graph_.values.size()),
      attr_planned_(graph_.attrs.size()),
      ops_(graph_.ops.size(), ir::kNoId),
      values_(graph_.values.size(), ir::kNoId),
      records_(graph_.ops.size()),
      swapped_(graph_.ops.size()),
      alternatives_(graph_.ops.size()),
      attrs_(graph_.attrs.size()) {
  root_value_ = graph_.Resolve(graph_.root_value());
  root_op_ = graph_.values[root_value_].producer;
  PlanOp(root_op_);
}

// Steps follow one another as the pattern is read: an operand, then what makes it, then the next.
void PlainMatcher::PlanOp(int op) {
  const SourceOp& source = graph_.ops[op];
  OpPlan& plan = plans_[op];
  if (source.alternatives.size() == 1) plan.only = &source.alternatives[0];
  plan.num_operands = static_cast<uint32_t>(source.operands.size());
  plan.earlier = order_;
  order_.push_back(op);
  plan.first_step = steps_.size();
  plan.all_results_may_escape = true;
  for (int result : source.results) {
    const int value = graph_.Resolve(result);
    value_planned_[value] = true;
    plan.results.push_back(value);
    plan.max_uses.push_back(UsesInside(value));
    plan.all_results_may_escape &= plan.max_uses.back() == kAnyUses;
  }
  for (const AttrPattern& attr : source.alternatives[0].attrs) {
    const bool binds = attr.kind == AttrPattern::kBind && !attr_planned_[attr.variable];
    plan.binds_first.push_back(binds);
    if (binds) attr_planned_[attr.variable] = true;
  }
  bool commutes = false;
  for (const Alternative& a : source.alternatives) commutes |= a.def->Has(ir::kCommutative);
  for (uint32_t i = 0; i < plan.num_operands; ++i) {
    Step step{.reader = op, .operand = i, .value = kAbsent, .producer = -1, .result_index = 0,
              .bound = false, .optional = true, .may_swap = commutes && i < 2};
    if (source.operands[i] != kAbsent) {
      step.value = graph_.Resolve(source.operands[i]);
      const SourceValue& v = graph_.values[step.value];
      step.bound = value_planned_[step.value];
      value_planned_[step.value] = true;
      step.producer = step.bound ? -1 : v.producer;
      step.result_index = static_cast<uint32_t>(v.result_index);
      step.optional = v.optional;
    }
    steps_.push_back(step);
    if (step.producer >= 0) PlanOp(step.producer);
  }
}

uint32_t PlainMatcher::UsesInside(int value) const {
  if (graph_.values[value].escape != Escape::kForbid) return kAnyUses;
  for (const Replacement& r : graph_.replacements)
    if (graph_.Resolve(r.source) == value) return kAnyUses;
  uint32_t uses = 0;
  for (const SourceOp& reader : graph_.ops)
    for (int operand : reader.operands)
      uses += operand != kAbsent && graph_.Resolve(operand) == value;
  return uses;
}

bool PlainMatcher::Match(const ir::GraphView& view, uint32_t op, MatchContext* match) {
  view_ = &view;
  block_ = view.block(op);
  choices_.clear();
  if (!Bind(root_op_, op) || values_[root_value_] == ir::kNoId) return false;
  for (size_t step = 0;;) {
    while (step < steps_.size() && Take(steps_[step])) ++step;
    if (step == steps_.size() && !Escapes() && ConstraintsHold(match)) return true;
    if (choices_.empty()) return false;
    const int other = choices_.back();
    choices_.pop_back();
    swapped_[other] = true;
    step = plans_[other].first_step;
  }
}

bool PlainMatcher::Take(const Step& step) {
  const ir::internal::OpRecord& reader = *records_[step.reader];
  const uint32_t i = step.may_swap && swapped_[step.reader] ? 1 - step.operand : step.operand;
  uint32_t value = ir::kNoId;
  if (i < reader.num_operands) {
    value = view_->used_value(reader.operands + i);
  } else if (i < view_->num_operands(ops_[step.reader])) {
    value = view_->used_value(reader.operands + i);
  }
  if (step.value == kAbsent) return value == ir::kNoId;
  if (step.bound) return values_[step.value] == value;
  values_[step.value] = value;
  if (step.producer < 0) return value != ir::kNoId || step.optional;
  if (!(value & ir::internal::kExtraBit)) return step.result_index == 0 && Bind(step.producer, value);
  if (value == ir::kNoId) return false;
  const uint32_t def = view_->DefiningOp(value);
  return def != ir::kNoId && view_->result_index(value) == step.result_index &&
         Bind(step.producer, def);
}

bool PlainMatcher::Bind(int op, uint32_t found) {
  const OpPlan& plan = plans_[op];
  const ir::internal::OpRecord& record = view_->record(found);
  const Alternative* alternative = plan.only;
  if (alternative) {
    if (alternative->def->opcode.id() != record.opcode) return false;
  } else {
    for (const Alternative& a : graph_.ops[op].alternatives)
      if (a.def->opcode.id() == record.opcode) alternative = &a;
    if (!alternative) return false;
  }
  const uint32_t num_operands = view_->num_operands(found);
  // Programs share what has no operands: equal constants are one operation.
  if (num_operands > 0 || !alternative->def->Has(ir::kPure))
    for (int earlier : plan.earlier)
      if (ops_[earlier] == found) return false;
  if (record.block != block_ && !alternative->def->Has(ir::kConstantLike)) return false;
  if (!alternative->attrs.empty() &&
      !MatchAttrs(op, *alternative, graph_.context()->DictFromId(record.attrs)))
    return false;
  for (uint32_t i = plan.num_operands; i < num_operands; ++i)
    if (view_->used_value(record.operands + i) != ir::kNoId) return false;
  ops_[op] = found;
  records_[op] = &record;
  alternatives_[op] = alternative;
  const bool has_result = record.flags & ir::internal::kOpHasResult;
  values_[plan.results[0]] = has_result ? found : ir::kNoId;
  if (plan.results.size() > 1) BindFurtherResults(op, found);
  if (alternative->def->Has(ir::kCommutative)) {
    swapped_[op] = false;
    if (plan.num_operands >= 2 && num_operands >= 2 &&
        view_->used_value(record.operands) != view_->used_value(record.operands + 1))
      choices_.push_back(op);
  }
  return true;
}

void PlainMatcher::BindFurtherResults(int op, uint32_t found) {
  const std::vector<int>& results = plans_[op].results;
  const uint32_t num_results = view_->OperationAt(found).num_results();
  for (uint32_t i = 1; i < results.size(); ++i)
    values_[results[i]] = i < num_results ? view_->result(found, i) : ir::kNoId;
}

bool PlainMatcher::MatchAttrs(int op, const Alternative& alternative, ir::AttrDict attrs) {
  for (size_t i = 0; i < alternative.attrs.size(); ++i) {
    const AttrPattern& pattern = alternative.attrs[i];
    if (pattern.kind == AttrPattern::kAny) continue;
    ir::Attribute value = attrs.Get(pattern.name);
    if (pattern.kind == AttrPattern::kIsOneOf) {
      if (std::find(pattern.values.begin(), pattern.values.end(), value) == pattern.values.end())
        return false;
      continue;
    }
    if (!value && !pattern.values.empty()) value = pattern.values[0];
    if (!value) return false;
    if (plans_[op].binds_first[i]) {
      attrs_[pattern.variable] = value;
    } else if (!(attrs_[pattern.variable] == value)) {
      return false;
    }
  }
  return true;
}

// Whether an operation outside the match reads a value that goes with it.
bool PlainMatcher::Escapes() const {
  for (int op : order_) {
    const OpPlan& plan = plans_[op];
    const ir::internal::OpRecord& record = *records_[op];
    const bool one_result = !(record.flags & ir::internal::kOpHasExtraResults);
    if (one_result && plan.all_results_may_escape) continue;
    if (record.num_operands == 0 && view_->num_operands(ops_[op]) == 0 &&
        (alternatives_[op]->def->Has(ir::kPure) || alternatives_[op]->def->Has(ir::kConstantLike)))
      continue;  // shared
    const uint32_t num_results =
        one_result ? view_->HasResult(ops_[op]) : view_->OperationAt(ops_[op]).num_results();
    for (uint32_t r = 0; r < num_results; ++r) {
      const uint32_t allowed = r < plan.max_uses.size() ? plan.max_uses[r] : 0;
      if (allowed == kAnyUses) continue;
      const uint32_t value = view_->result(ops_[op], r);
      if (view_->use_count(value) > allowed && EscapesFrom(value)) return true;
    }
  }
  return false;
}

bool PlainMatcher::EscapesFrom(uint32_t value) const {
  for (uint32_t use = view_->first_use(value); use != ir::kNoId; use = view_->next_use(use))
    if (std::find(ops_.begin(), ops_.end(), view_->owner(use)) == ops_.end()) return true;
  return false;
}

void PlainMatcher::Fill(MatchContext* match) const {
  for (size_t v = 0; v < values_.size(); ++v) {
    match->bound_[v] = value_planned_[v];
    if (value_planned_[v]) match->values_[v] = view_->ValueAt(values_[v]);
  }
  for (int op : order_) {
    match->ops_[op] = view_->OperationAt(ops_[op]);
    match->alternatives_[op] =
        static_cast<int>(alternatives_[op] - graph_.ops[op].alternatives.data());
  }
  for (size_t a = 0; a < attrs_.size(); ++a) match->attrs_[a] = attrs_[a];
}

bool PlainMatcher::ConstraintsHold(MatchContext* match) const {
  if (graph_.constraints.empty()) return true;
  Fill(match);
  for (const Constraint& constraint : graph_.constraints) {
    match->explanation_.clear();
    if (!constraint.holds(*match)) return false;
  }
  return true;
}

}  // namespace weft::drr
