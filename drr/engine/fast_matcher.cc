#include "drr/engine/fast_matcher.h"

#include <algorithm>

#include "drr/engine/match_semantics.h"

namespace weft::drr {
namespace {

constexpr size_t kMaxValues = INT16_MAX;  // and ops, and operands of one op

}  // namespace

bool PlainMatcher::Supports(const Rule& rule) {
  const PatternGraph& graph = rule.graph;
  if (!graph.IsPlain()) return false;
  for (const SourceOp& op : graph.ops) {
    if (op.results.empty() || op.operands.size() > kMaxValues) return false;
    for (const Alternative& alternative : op.alternatives)
      if (alternative.def->info->num_regions != 0) return false;  // what lies in them may matter
  }
  if (graph.values.size() > kMaxValues || graph.ops.size() > kMaxValues) return false;
  for (const SourceValue& v : graph.values)
    if (v.optional && v.producer) return false;
  for (const SourceOp& op : graph.ops) {
    if (op.alternatives.size() == 1) continue;
    for (const Alternative& alternative : op.alternatives)
      for (const AttrPattern& attr : alternative.attrs)
        if (attr.kind == AttrPattern::kBind) return false;
  }
  return true;
}

PlainMatcher::PlainMatcher(const Rule& rule, PlainMatch* match)
    : match_(*match),
      graph_(rule.graph),
      places_(graph_.ops.size(), -1),
      value_planned_(graph_.values.size()),
      attr_planned_(graph_.attrs.size()) {
  PlanOp(graph_.values[graph_.Resolve(graph_.root_value())].producer);
  const auto grow = [](auto* v, size_t size) {
    if (v->size() < size) v->resize(size);
  };
  grow(&match->ops, plans_.size());
  grow(&match->values, graph_.values.size());
  grow(&match->attrs, graph_.attrs.size());
}

PlainMatcher::AlternativePlan PlainMatcher::PlanAlternative(const Alternative& alternative) {
  const ir::OpDef& def = *alternative.def;
  return {.alternative = &alternative,
          .opcode = def.opcode.id(),
          .pure = def.Has(ir::kPure),
          .constant_like = def.Has(ir::kConstantLike),
          .commutative = def.Has(ir::kCommutative),
          .has_attrs = !alternative.attrs.empty()};
}

// Steps follow one another as the pattern is read: an operand, then its defining op, then the next.
void PlainMatcher::PlanOp(OpId op) {
  const SourceOp& source = graph_.ops[op];
  const auto place = static_cast<int16_t>(plans_.size());
  places_[op] = place;
  OpPlan plan;
  ColdPlan cold;
  plan.first = PlanAlternative(source.alternatives[0]);
  for (size_t i = 1; i < source.alternatives.size(); ++i)
    cold.others.push_back(PlanAlternative(source.alternatives[i]));
  cold.op = op;
  plan.num_operands = static_cast<uint16_t>(source.operands.size());
  plan.first_step = static_cast<uint16_t>(steps_.size());
  const ValueId result = graph_.Resolve(source.results[0]);
  plan.result = static_cast<int16_t>(result.index());
  plan.max_uses = UsesInside(result);
  limits_uses_ |= plan.max_uses != kAnyUses;
  plan.more_results = source.results.size() > 1;
  for (ValueId v : source.results) value_planned_[graph_.Resolve(v)] = true;
  for (const AttrPattern& attr : source.alternatives[0].attrs) {
    const bool binds = attr.kind == AttrPattern::kBind && !attr_planned_[attr.variable];
    cold.binds_first.push_back(binds);
    if (binds) attr_planned_[attr.variable] = true;
  }
  plans_.push_back(plan);
  cold_.push_back(std::move(cold));
  bool commutes = false;
  for (const Alternative& a : source.alternatives) commutes |= a.def->Has(ir::kCommutative);
  const auto num_operands = static_cast<uint16_t>(source.operands.size());
  for (uint16_t i = 0; i < num_operands; ++i) {
    Step step{.kind = Kind::kAbsent,
              .optional = true,
              .may_swap = commutes && i < 2,
              .operand = i,
              .user = place,
              .value = -1,
              .producer = -1,
              .result_index = 0};
    OpId producer;
    if (source.operands[i]) {
      const ValueId value = graph_.Resolve(source.operands[i]);
      step.value = static_cast<int16_t>(value.index());
      const SourceValue& v = graph_.values[value];
      if (!value_planned_[value]) producer = v.producer;
      step.kind = value_planned_[value] ? Kind::kBound : producer ? Kind::kMade : Kind::kOpen;
      step.result_index = static_cast<uint16_t>(v.result_index);
      step.optional = v.optional;
      value_planned_[value] = true;
    }
    if (producer) step.producer = static_cast<int16_t>(plans_.size());
    steps_.push_back(step);
    if (producer) PlanOp(producer);
  }
}

uint32_t PlainMatcher::UsesInside(ValueId value) const {
  if (MayBeReadOutside(graph_, value)) return kAnyUses;
  uint32_t uses = 0;
  for (const SourceOp& user : graph_.ops)
    for (ValueId operand : user.operands) uses += operand && graph_.Resolve(operand) == value;
  return uses;
}

[[gnu::always_inline]] inline bool PlainMatcher::Bind(int place, uint32_t found) {
  const OpPlan& plan = plans_[place];
  const ir::internal::OpRecord& record = match_.view->record(found);
  const AlternativePlan* alternative = &plan.first;
  if (alternative->opcode != record.opcode) [[unlikely]] {
    const std::vector<AlternativePlan>& others = cold_[place].others;
    const auto it = std::find_if(others.begin(), others.end(), [&](const AlternativePlan& other) {
      return other.opcode == record.opcode;
    });
    if (it == others.end()) return false;
    alternative = &*it;
  }
  const uint32_t num_operands = match_.view->num_operands(found);
  PlainMatch::Op* const ops = match_.ops.data();
  if (!MayStandForSeveral(num_operands, alternative->pure))
    for (int earlier = 0; earlier < place; ++earlier)
      if (ops[earlier].op == found) return false;
  if (!MayLieInBlock(record.block == match_.block, alternative->constant_like)) return false;
  if (alternative->has_attrs &&
      !MatchAttrs(place, *alternative->alternative, graph_.context()->DictFromId(record.attrs)))
    return false;
  const uint32_t operands = record.operands;
  for (uint32_t i = plan.num_operands; i < num_operands; ++i)
    if (match_.view->used_value(operands + i) != ir::kNoId) return false;
  ops[place] = {found, &record, alternative->alternative, false};
  match_.values[ValueId(plan.result)] =
      record.flags & ir::internal::kOpHasResult ? found : ir::kNoId;
  match_.flags |= record.flags;
  if (plan.more_results) BindFurtherResults(place, found);
  if (HasTwoOrders(alternative->commutative, plan.num_operands, num_operands) &&
      match_.view->used_value(operands) != match_.view->used_value(operands + 1))
    match_.choices.push_back(place);
  return true;
}

[[gnu::always_inline]] inline bool PlainMatcher::Take(const Step& step) {
  const PlainMatch::Op& user = match_.ops[step.user];
  const ir::internal::OpRecord& record = *user.record;
  const uint32_t i = step.may_swap && user.swapped ? 1 - step.operand : step.operand;
  uint32_t value = ir::kNoId;
  if (i < record.num_operands || i < match_.view->num_operands(user.op)) [[likely]]
    value = match_.view->used_value(record.operands + i);
  switch (step.kind) {
    case Kind::kAbsent:
      return value == ir::kNoId;
    case Kind::kBound:
      return match_.values[ValueId(step.value)] == value;
    case Kind::kOpen:
      match_.values[ValueId(step.value)] = value;
      return value != ir::kNoId || step.optional;
    case Kind::kMade:
      break;
  }
  if (!(value & ir::internal::kExtraBit)) [[likely]]
    return step.result_index == 0 && Bind(step.producer, value);
  if (value == ir::kNoId) return false;
  const uint32_t def = match_.view->DefiningOp(value);
  if (def == ir::kNoId || match_.view->result_index(value) != step.result_index) return false;
  match_.values[ValueId(step.value)] = value;
  return Bind(step.producer, def);
}

bool PlainMatcher::Match(const ir::GraphView& view, uint32_t op, MatchContext* context) {
  match_.view = &view;
  match_.block = view.block(op);
  match_.flags = 0;
  match_.rejected = 0;
  match_.choices.clear();
  if (!view.HasResult(op) || !Bind(0, op)) return false;
  const Step* step = steps_.data();
  uint32_t backtracks = 0;
  for (const Step* const end = step + steps_.size();;) {
    while (step != end && Take(*step)) ++step;
    if (step == end && !Escapes() && ConstraintsHold(context)) return true;
    if (match_.choices.empty() || ++backtracks > kMaxBacktracks) return false;
    const int other = match_.choices.back();
    match_.choices.pop_back();
    match_.ops[other].swapped = true;
    step = steps_.data() + plans_[other].first_step;
  }
}

void PlainMatcher::BindFurtherResults(int place, uint32_t found) {
  const std::vector<ValueId>& results = graph_.ops[cold_[place].op].results;
  const uint32_t num_results = match_.view->OperationAt(found).num_results();
  for (uint32_t i = 1; i < results.size(); ++i)
    match_.values[graph_.Resolve(results[i])] =
        i < num_results ? match_.view->result(found, i) : ir::kNoId;
}

bool PlainMatcher::MatchAttrs(int place, const Alternative& alternative, ir::AttrDict attrs) {
  for (size_t i = 0; i < alternative.attrs.size(); ++i) {
    const AttrPattern& pattern = alternative.attrs[i];
    if (pattern.kind == AttrPattern::kAny) continue;
    ir::Attribute value = attrs.Get(pattern.name);
    const bool binds = cold_[place].binds_first[i];
    const bool compares = pattern.kind == AttrPattern::kBind && !binds;
    const ir::Attribute bound = compares ? match_.attrs[pattern.variable] : ir::Attribute();
    if (FitAttr(pattern, bound, &value) != AttrFit::kFits) return false;
    if (binds) match_.attrs[pattern.variable] = value;
  }
  return true;
}

// Whether an operation outside the match reads a value that goes with it.
bool PlainMatcher::Escapes() const {
  if (!limits_uses_ && !(match_.flags & ir::internal::kOpHasExtraResults)) return false;
  for (int place = 0; place < num_ops(); ++place) {
    const OpPlan& plan = plans_[place];
    const PlainMatch::Op& bound = match_.ops[place];
    const bool more = bound.record->flags & ir::internal::kOpHasExtraResults;
    if (plan.max_uses == kAnyUses && !more) continue;
    if (MayHaveExternalUses(match_.view->num_operands(bound.op), bound.alternative->def->traits))
      continue;
    if (plan.max_uses != kAnyUses && match_.view->use_count(bound.op) > plan.max_uses &&
        EscapesFrom(bound.op))
      return true;
    if (more && FurtherResultsEscape(place)) return true;
  }
  return false;
}

bool PlainMatcher::FurtherResultsEscape(int place) const {
  const std::vector<ValueId>& results = graph_.ops[cold_[place].op].results;
  const uint32_t op = match_.ops[place].op;
  for (uint32_t r = 1, n = match_.view->OperationAt(op).num_results(); r < n; ++r) {
    const uint32_t allowed = r < results.size() ? UsesInside(graph_.Resolve(results[r])) : 0;
    const uint32_t value = match_.view->result(op, r);
    if (allowed != kAnyUses && match_.view->use_count(value) > allowed && EscapesFrom(value))
      return true;
  }
  return false;
}

bool PlainMatcher::EscapesFrom(uint32_t value) const {
  const auto contains = [&](uint32_t user) {
    return std::any_of(match_.ops.begin(), match_.ops.begin() + num_ops(),
                       [&](const PlainMatch::Op& op) { return op.op == user; });
  };
  return ExternalUser(*match_.view, value, contains) != ir::kNoId;
}

void PlainMatcher::Fill(MatchContext* context) const {
  for (ValueId v : value_planned_.ids()) {
    context->bound_[v] = value_planned_[v];
    if (value_planned_[v]) context->values_[v] = match_.view->ValueAt(match_.values[v]);
  }
  for (int place = 0; place < num_ops(); ++place) {
    const OpId op = cold_[place].op;
    const PlainMatch::Op& bound = match_.ops[place];
    context->ops_[op] = match_.view->OperationAt(bound.op);
    context->alternatives_[op] =
        static_cast<int>(bound.alternative - graph_.ops[op].alternatives.data());
  }
  for (AttrId a : attr_planned_.ids()) context->attrs_[a] = match_.attrs[a];
}

bool PlainMatcher::ConstraintsHold(MatchContext* context) const {
  if (graph_.constraints.empty()) return true;
  if (match_.rejected == 0 && context->memo_) context->memo_ = nullptr;
  Fill(context);
  for (const Constraint& constraint : graph_.constraints) {
    context->explanation_.clear();
    if (constraint.holds(*context)) continue;
    ++match_.rejected;
    return false;
  }
  return true;
}

}  // namespace weft::drr
