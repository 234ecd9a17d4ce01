#include "drr/plain_matcher.h"

#include <algorithm>

namespace weft::drr {

bool PlainMatcher::Supports(const Rule& rule) {
  const PatternGraph& graph = rule.graph;
  if (!graph.IsPlain()) return false;
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
      swapped_(graph_.ops.size()),
      alternatives_(graph_.ops.size(), -1),
      attrs_(graph_.attrs.size()) {
  root_value_ = graph_.Resolve(graph_.root_value());
  root_op_ = graph_.values[root_value_].producer;
  PlanOp(root_op_);
}

// Steps follow one another as the pattern is read: an operand, then what makes it, then the next.
void PlainMatcher::PlanOp(int op) {
  const SourceOp& source = graph_.ops[op];
  OpPlan& plan = plans_[op];
  plan.earlier = order_;
  order_.push_back(op);
  plan.first_step = steps_.size();
  for (int result : source.results) {
    const int value = graph_.Resolve(result);
    value_planned_[value] = true;
    plan.max_uses.push_back(UsesInside(value));
  }
  for (const AttrPattern& attr : source.alternatives[0].attrs) {
    const bool binds = attr.kind == AttrPattern::kBind && !attr_planned_[attr.variable];
    plan.binds_first.push_back(binds);
    if (binds) attr_planned_[attr.variable] = true;
  }
  for (uint32_t i = 0; i < source.operands.size(); ++i) {
    if (source.operands[i] == kAbsent) {
      steps_.push_back({op, i, kAbsent, -1, false, true});
      continue;
    }
    const int value = graph_.Resolve(source.operands[i]);
    const SourceValue& v = graph_.values[value];
    const bool bound = value_planned_[value];
    value_planned_[value] = true;
    const int producer = bound ? -1 : v.producer;
    steps_.push_back({op, i, value, producer, bound, v.optional});
    if (producer >= 0) PlanOp(producer);
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

const ir::OpDef* PlainMatcher::DefOf(uint32_t op) const {
  return graph_.context()->FindOp(ir::Opcode::FromId(view_->opcode(op)));
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
  const uint32_t reader = ops_[step.reader];
  const uint32_t i = step.operand < 2 && swapped_[step.reader] ? 1 - step.operand : step.operand;
  const uint32_t value = i < view_->num_operands(reader) ? view_->operand(reader, i) : ir::kNoId;
  if (step.value == kAbsent) return value == ir::kNoId;
  if (step.bound) return values_[step.value] == value;
  if (value == ir::kNoId && !step.optional) return false;
  values_[step.value] = value;
  if (step.producer < 0) return true;
  const uint32_t def = view_->DefiningOp(value);
  if (def == ir::kNoId) return false;
  const auto index = static_cast<uint32_t>(graph_.values[step.value].result_index);
  return view_->result_index(value) == index && Bind(step.producer, def);
}

bool PlainMatcher::Bind(int op, uint32_t found) {
  const SourceOp& source = graph_.ops[op];
  const uint16_t opcode = view_->opcode(found);
  size_t which = 0;
  while (source.alternatives[which].def->opcode.id() != opcode)
    if (++which == source.alternatives.size()) return false;
  const Alternative& alternative = source.alternatives[which];
  const uint32_t num_operands = view_->num_operands(found);
  // Programs share what has no operands: equal constants are one operation.
  const bool shareable = num_operands == 0 && alternative.def->Has(ir::kPure);
  if (!shareable)
    for (int earlier : plans_[op].earlier)
      if (ops_[earlier] == found) return false;
  if (view_->block(found) != block_ && !alternative.def->Has(ir::kConstantLike)) return false;
  if (!alternative.attrs.empty() &&
      !MatchAttrs(op, alternative, graph_.context()->DictFromId(view_->attrs(found))))
    return false;
  for (auto i = static_cast<uint32_t>(source.operands.size()); i < num_operands; ++i)
    if (view_->operand(found, i) != ir::kNoId) return false;
  ops_[op] = found;
  alternatives_[op] = static_cast<int>(which);
  swapped_[op] = false;
  const bool one_result = !view_->HasExtraResults(found);
  for (uint32_t i = 0; i < source.results.size(); ++i) {
    const bool there = i == 0 ? view_->HasResult(found)
                              : !one_result && i < view_->OperationAt(found).num_results();
    values_[graph_.Resolve(source.results[i])] = there ? view_->result(found, i) : ir::kNoId;
  }
  if (alternative.def->Has(ir::kCommutative) && source.operands.size() >= 2 && num_operands >= 2 &&
      view_->operand(found, 0) != view_->operand(found, 1))
    choices_.push_back(op);
  return true;
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
    const uint32_t found = ops_[op];
    if (view_->num_operands(found) == 0) {
      const ir::OpDef* def = DefOf(found);
      if (def->Has(ir::kPure) || def->Has(ir::kConstantLike)) continue;  // shared
    }
    const std::vector<uint32_t>& max_uses = plans_[op].max_uses;
    const uint32_t num_results = view_->HasExtraResults(found)
                                     ? view_->OperationAt(found).num_results()
                                     : static_cast<uint32_t>(view_->HasResult(found));
    for (uint32_t r = 0; r < num_results; ++r) {
      const uint32_t allowed = r < max_uses.size() ? max_uses[r] : 0;
      if (allowed == kAnyUses) continue;
      const uint32_t value = view_->result(found, r);
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
    match->alternatives_[op] = alternatives_[op];
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
