#include "drr/engine/matcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "drr/engine/match_semantics.h"
#include "drr/rule/arity.h"
#include "ir/text/printer.h"
#include "ir/traits.h"

namespace weft::drr {

using ir::Block;
using ir::Operation;
using ir::Value;

namespace {

std::string NamesOf(const SourceOp& op) {
  if (op.alternatives.empty())
    return op.traits ? fmt::format("any {} op", ir::TraitNames(op.traits)) : std::string(op.Name());
  std::string names;
  for (const Alternative& alternative : op.alternatives)
    names += fmt::format("{}{}", names.empty() ? "" : " or ", alternative.def->name());
  return names;
}

std::string TextOf(ir::Attribute attribute) {
  return attribute ? ir::PrintAttribute(attribute) : "not given";
}

std::string TextOf(const std::vector<ir::Attribute>& attributes) {
  std::string text;
  for (ir::Attribute attribute : attributes)
    text += (text.empty() ? "" : " or ") + TextOf(attribute);
  return text;
}

}  // namespace

MatchFailure Matcher::NewFailure(size_t progress) const {
  MatchFailure failure;
  failure.progress = progress;
  failure.ops_bound = op_trail_.size();
  for (ValueId id : graph_.values.ids())
    if (!graph_.values[id].name.empty() && m_->bound_[id])
      failure.bound.emplace_back(graph_.values[id].name, m_->values_[id]);
  return failure;
}

void Matcher::Undo(const Mark& mark) {
  for (; value_trail_.size() > mark.values; value_trail_.pop_back()) {
    const ValueId id = value_trail_.back();
    m_->values_[id] = Value();
    m_->bound_[id] = false;
    if (!m_->lists_.empty()) m_->lists_[id].clear();
  }
  for (; op_trail_.size() > mark.ops; op_trail_.pop_back()) {
    const OpId id = op_trail_.back();
    m_->ops_[id] = Operation();
    m_->alternatives_[id] = -1;
    if (!m_->op_lists_.empty()) m_->op_lists_[id].clear();
  }
  for (; attr_trail_.size() > mark.attrs; attr_trail_.pop_back())
    m_->attrs_[attr_trail_.back()] = ir::Attribute();
  m_->skipped_.resize(mark.skipped);
  m_->terminators_.resize(mark.terminators);
}

void Matcher::BindValue(ValueId id, Value value) {
  m_->values_[id] = value;
  m_->bound_[id] = true;
  value_trail_.push_back(id);
}

void Matcher::BindOp(OpId id, Operation op, int alternative) {
  m_->ops_[id] = op;
  m_->alternatives_[id] = alternative;
  op_trail_.push_back(id);
}

bool Matcher::Match(Operation op, MatchContext* match, MatchFailure* failure) {
  m_ = match;
  failure_ = failure;
  probing_ = false;
  steps_ = 0;
  list_elements_ = 0;
  value_trail_.clear();
  op_trail_.clear();
  attr_trail_.clear();
  m_->skipped_.clear();
  m_->terminators_.clear();
  goals_.clear();
  m_->memo_ = nullptr;
  root_block_ = op.block();
  for (OpId producer : root_producers_) {
    const ValueId id = graph_.Resolve(RootResult(producer));
    const auto index = static_cast<uint32_t>(graph_.values[id].result_index);
    if (index >= op.num_results()) continue;
    if (SolveValue({graph_.root_value(), op.result(index), nullptr, op.block()})) return true;
    Undo({0, 0, 0, 0, 0});
    break;  // the alternatives of an Either() are tried by SolveValue
  }
  if (failure_ && steps_ > kMaxSteps && !failure_->reason.starts_with("given up"))
    failure_->reason = fmt::format("given up after {} steps: {}", kMaxSteps, failure_->reason);
  return false;
}

// The result of `producer` that is replaced.
ValueId Matcher::RootResult(OpId producer) const {
  const ValueId root = graph_.root_value();
  if (graph_.values[root].producer == producer) return root;
  return graph_.ops[producer].results[0];
}

bool Matcher::IsShared(Operation op) const {
  return MayStandForSeveral(op.num_operands(), op.HasTrait(ir::kPure));
}

bool Matcher::Solve(const Goal* goal) {
  if (!goal) return SolveRemaining();
  return SolveValue(*goal);
}

bool Matcher::SolveValue(const Goal& goal) {
  if (++steps_ > kMaxSteps)
    return Fail([&] { return fmt::format("given up after {} steps", kMaxSteps); }, kConstraint);
  const ValueId id = graph_.Resolve(goal.pattern);
  const SourceValue& pattern = graph_.values[id];
  if (pattern.list) return SolveList(goal, id);
  if (m_->bound_[id]) {
    if (m_->values_[id] == goal.value) return Solve(goal.next);
    return Fail([&](MatchFailure& failure) {
      failure.value = goal.value;
      failure.loc = pattern.loc;
      failure.expected = "the value that " + graph_.Describe(id) + " is already";
      failure.found = "another one";
      return graph_.Describe(id) + " would have to be two different values";
    });
  }
  if (pattern.through) return SolveSkip(goal, id);
  if (!goal.value && !pattern.optional)
    return Fail([&](MatchFailure& failure) {
      failure.loc = pattern.loc;
      return graph_.Describe(id) + " is not given";
    });
  if (goal.value && !pattern.either.empty()) return SolveEither(goal, id);
  if (goal.value && pattern.producer) return SolveProducer(goal, id);
  const Mark mark = Now();
  BindValue(id, goal.value);
  if (MayBe(id) && Solve(goal.next)) return true;
  Undo(mark);
  return false;
}

bool Matcher::SolveEither(const Goal& goal, ValueId id) {
  for (ValueId alternative : graph_.values[id].either) {
    const Mark mark = Now();
    BindValue(id, goal.value);
    if (SolveValue({alternative, goal.value, goal.next, goal.block})) return true;
    Undo(mark);
  }
  return false;
}

bool Matcher::SolveProducer(const Goal& goal, ValueId id) {
  const SourceValue& pattern = graph_.values[id];
  const SourceOp& op = graph_.ops[pattern.producer];
  if (op.times == Times::kChain) return SolveChain(goal, id);
  const Operation found = goal.value.DefiningOp();
  if (!found)
    return Fail([&](MatchFailure& failure) {
      failure.value = goal.value;
      failure.loc = op.loc;
      failure.expected = NamesOf(op);
      failure.found = "a block argument";
      return fmt::format("expected {} but found a block argument", op.Name());
    });
  if (goal.value.index() != static_cast<uint32_t>(pattern.result_index))
    return Fail([&](MatchFailure& failure) {
      failure.op = found;
      failure.value = goal.value;
      failure.loc = op.loc;
      failure.expected = fmt::format("result {} of {}", pattern.result_index, NamesOf(op));
      failure.found = fmt::format("result {}", goal.value.index());
      return fmt::format("expected result {} of {} but found result {}", pattern.result_index,
                         op.Name(), goal.value.index());
    });
  const Mark mark = Now();
  if (!m_->ops_[pattern.producer]) {
    const bool around = pattern.outside && goal.block && !(found.block() == goal.block);
    if (around && !InBlock(pattern, found, goal.block))
      return Fail([&](MatchFailure& failure) {
        failure.op = found;
        failure.loc = op.loc;
        return fmt::format("{} lies in another block", found.name());
      });
    if (SolveOp(pattern.producer, found, goal.next, around ? found.block() : goal.block))
      return true;
    Undo(mark);
    return false;
  }
  if (!(m_->ops_[pattern.producer] == found))
    return Fail([&](MatchFailure& failure) {
      failure.op = found;
      failure.value = goal.value;
      failure.loc = op.loc;
      return fmt::format("two results come from different {}s", op.Name());
    });
  BindValue(id, goal.value);
  if (Solve(goal.next)) return true;
  Undo(mark);
  return false;
}

// Whether the block of `found` is `block`, or one around it when the value may come from there.
bool Matcher::InBlock(const SourceValue& pattern, Operation found, Block block) const {
  for (Block b = block; b;) {
    if (found.block() == b) return true;
    if (!pattern.outside) return false;
    const Operation parent = b.ParentOp();
    b = parent ? parent.block() : Block();
  }
  return false;
}

bool Matcher::MatchAttrs(const Alternative& alternative, Operation found) {
  const ir::AttrDict attrs = found.attrs();
  for (const AttrPattern& pattern : alternative.attrs) {
    ir::Attribute value = attrs.Get(pattern.name);
    const bool is_variable = pattern.kind == AttrPattern::kBind;
    const ir::Attribute bound = is_variable ? m_->attrs_[pattern.variable] : ir::Attribute();
    const AttrFit fit = FitAttr(pattern, bound, &value);
    if (fit != AttrFit::kFits) return FailAttr(pattern, fit, found, bound, value);
    if (is_variable && !bound) {
      m_->attrs_[pattern.variable] = value;
      attr_trail_.push_back(pattern.variable);
    }
  }
  return true;
}

bool Matcher::FailAttr(const AttrPattern& pattern, AttrFit fit, Operation found,
                       ir::Attribute bound, ir::Attribute value) {
  return Fail(
      [&](MatchFailure& failure) {
        const std::string_view name = pattern.name.str();
        failure.op = found;
        if (fit == AttrFit::kMissing)
          return fmt::format("{} has no attribute {}", found.name(), name);
        failure.expected = fit == AttrFit::kOther ? TextOf(pattern.values) : TextOf(bound);
        failure.found = TextOf(value);
        if (fit == AttrFit::kOther)
          return fmt::format("attribute {} of {} is not what the rule wants", name, found.name());
        const AttrVariable& variable = graph_.attrs[pattern.variable];
        const Operation binder = BinderOf(pattern.variable, found);
        return fmt::format("attribute {} of {} is {}, but ${} was bound to {}{}{}", name,
                           found.name(), failure.found, variable.name, failure.expected,
                           binder ? " by " : "", binder ? binder.name() : "");
      },
      kAttribute);
}

// The matched op other than `found` that has what the variable is bound to; none in a list.
Operation Matcher::BinderOf(AttrId variable, Operation found) const {
  for (OpId op : graph_.ops.ids()) {
    if (!m_->ops_[op] || m_->ops_[op] == found || m_->alternatives_[op] < 0) continue;
    const auto which = static_cast<size_t>(m_->alternatives_[op]);
    if (which >= graph_.ops[op].alternatives.size()) continue;
    for (const AttrPattern& attr : graph_.ops[op].alternatives[which].attrs)
      if (attr.kind == AttrPattern::kBind && attr.variable == variable) return m_->ops_[op];
  }
  return {};
}

int Matcher::WhichAlternative(const SourceOp& op, Operation found) {
  if (op.alternatives.empty()) {
    if (!op.opcode.empty()) return found.name() == op.opcode ? 0 : -1;
    if (op.traits == ir::kNone) return 0;
    const ir::OpDef* def = found.def();
    return def && (def->traits & op.traits) == op.traits ? 0 : -1;
  }
  for (size_t i = 0; i < op.alternatives.size(); ++i)
    if (op.alternatives[i].def->opcode == found.opcode()) return static_cast<int>(i);
  return -1;
}

bool Matcher::SolveOp(OpId op_id, Operation found, const Goal* rest, Block block) {
  const SourceOp& op = graph_.ops[op_id];
  if (!probing_ && !IsShared(found))
    for (Operation bound : m_->ops_)
      if (bound && bound == found)
        return Fail([&](MatchFailure& failure) {
          failure.op = found;
          failure.loc = op.loc;
          return fmt::format("one {} would be bound to two pattern ops", found.name());
        });
  const int which = WhichAlternative(op, found);
  if (which < 0)
    return Fail([&](MatchFailure& failure) {
      failure.op = found;
      failure.loc = op.loc;
      failure.expected = NamesOf(op);
      failure.found = found.name();
      return fmt::format("expected {}{} but found {}",
                         op.alternatives.empty() ? NamesOf(op) : std::string(op.Name()),
                         op.alternatives.size() > 1 ? " (or an alternative)" : "", found.name());
    });
  if (which < static_cast<int>(op.alternatives.size()) &&
      found.num_results() != op.results.size() &&
      IsVariadic(op.alternatives[which].def->info->results))
    return Fail([&](MatchFailure& failure) {
      failure.op = found;
      failure.loc = op.loc;
      return fmt::format("{} has {} results but the rule names {}", found.name(),
                         found.num_results(), op.results.size());
    });
  if (block && !MayLieInBlock(found.block() == block, found.HasTrait(ir::kConstantLike)))
    return Fail([&](MatchFailure& failure) {
      failure.op = found;
      failure.loc = op.loc;
      return fmt::format("{} lies in another block", found.name());
    });
  const Mark mark = Now();
  if (which < static_cast<int>(op.alternatives.size()) &&
      !MatchAttrs(op.alternatives[which], found)) {
    Undo(mark);
    return false;
  }
  BindOp(op_id, found, which);
  for (size_t i = 0; i < op.results.size(); ++i) {
    const ValueId id = graph_.Resolve(op.results[i]);
    if (i < found.num_results() && !m_->bound_[id])
      BindValue(id, found.result(static_cast<uint32_t>(i)));
  }
  if (SolveOperands(op_id, found, false, rest)) return true;
  const bool commutes =
      HasTwoOrders(found.HasTrait(ir::kCommutative), op.operands.size(), found.num_operands()) &&
      !(found.operand(0) == found.operand(1));
  if (commutes && SolveOperands(op_id, found, true, rest)) return true;
  Undo(mark);
  return false;
}

// Operands beyond those the pattern names must be absent; a named optional one may be.
bool Matcher::SolveOperands(OpId op_id, Operation found, bool swapped, const Goal* rest) {
  const SourceOp& op = graph_.ops[op_id];
  uint32_t lists = 0;
  for (ValueId v : op.operands) lists += v && graph_.values[graph_.Resolve(v)].list;
  const auto named = static_cast<uint32_t>(op.operands.size()) - lists;
  if (lists == 0) {
    for (uint32_t i = named; i < found.num_operands(); ++i)
      if (found.operand(i))
        return Fail([&](MatchFailure& failure) {
          failure.op = found;
          failure.value = found.operand(i);
          failure.loc = op.loc;
          return fmt::format("{} has an operand {} the rule does not expect", found.name(), i);
        });
  } else if (found.num_operands() < named) {
    return Fail([&](MatchFailure& failure) {
      failure.op = found;
      failure.loc = op.loc;
      return fmt::format("{} has {} operands but the rule names {}", found.name(),
                         found.num_operands(), named);
    });
  }
  // With two lists, everything between them may start at any operand.
  const uint32_t left = lists ? found.num_operands() - named : 0;
  for (uint32_t first = lists < 2 ? left : 0; first <= left; ++first) {
    if (lists == 2 && !MayDivideLists(op, found, first)) continue;
    const Mark mark = Now();
    const size_t goals = goals_.size();
    const bool found_all = AddOperandGoals(op, found, swapped, first) &&
                           AddRegionGoals(op, found) && SolveGoals(goals, rest);
    goals_.resize(goals);
    if (found_all) return true;
    Undo(mark);
    if (steps_ > kMaxSteps) return false;
  }
  return false;
}

// The first list takes `first_list` operands.
bool Matcher::AddOperandGoals(const SourceOp& op, Operation found, bool swapped,
                              uint32_t first_list) {
  std::vector<Goal> lists;
  const Block block = found.block();
  uint32_t position = 0, seen_lists = 0, named = 0;
  for (ValueId v : op.operands) named += !v || !graph_.values[graph_.Resolve(v)].list;
  const size_t num_lists = op.operands.size() - named;
  for (size_t i = 0; i < op.operands.size(); ++i) {
    if (op.operands[i] && graph_.values[graph_.Resolve(op.operands[i])].list) {
      const uint32_t rest = found.num_operands() - named - first_list;
      const uint32_t size = seen_lists++ == 0 ? first_list : rest;
      lists.push_back({op.operands[i], Value(), nullptr, block, found, position, position + size});
      position += size;
      continue;
    }
    const uint32_t at = swapped && position < 2 ? 1 - position : position;
    ++position;
    const Value value = at < found.num_operands() ? found.operand(at) : Value();
    if (!op.operands[i]) {
      if (value)
        return Fail([&](MatchFailure& failure) {
          failure.op = found;
          failure.value = value;
          failure.loc = op.loc;
          return fmt::format("operand {} of {} is given", i, found.name());
        });
      continue;
    }
    // Of two orders, or many places, most are wrong at a glance. (When the reason is asked for, the
    // order that the rule is written in goes on to what is wrong exactly.)
    if ((swapped || num_lists > 1 || !failure_) && !Plausible(op.operands[i], value)) {
      return Fail([&](MatchFailure& failure) {
        failure.op = found;
        failure.value = value;
        failure.loc = op.loc;
        const Operation made_by = value ? value.DefiningOp() : Operation();
        return fmt::format("operand {} of {} is defined by {}, which the rule does not expect", at,
                           found.name(), made_by ? made_by.name() : "no op");
      });
    }
    goals_.push_back({op.operands[i], value, nullptr, block});
  }
  goals_.insert(goals_.end(), lists.begin(), lists.end());
  return true;
}

bool Matcher::AddRegionGoals(const SourceOp& op, Operation found) {
  for (const RegionPattern& pattern : op.regions) {
    const auto region = static_cast<uint32_t>(pattern.region);
    if (region >= found.num_regions())
      return Fail([&](MatchFailure& failure) {
        failure.op = found;
        failure.loc = pattern.loc;
        return fmt::format("{} has no region {}", found.name(), region);
      });
    const Block block = found.region(region).front();
    const Operation end = block ? block.Terminator() : Operation();
    if (!end || block.next())
      return Fail([&](MatchFailure& failure) {
        failure.op = found;
        failure.loc = pattern.loc;
        return fmt::format("region {} of {} is not one block with a terminator", region,
                           found.name());
      });
    if (end.num_operands() != pattern.returned.size())
      return Fail([&](MatchFailure& failure) {
        failure.op = found;
        failure.loc = pattern.loc;
        return fmt::format("region {} of {} returns {} values but the rule names {}", region,
                           found.name(), end.num_operands(), pattern.returned.size());
      });
    m_->terminators_.push_back(end);
    for (uint32_t i = 0; i < end.num_operands(); ++i)
      if (pattern.returned[i] != kAbsent)
        goals_.push_back({pattern.returned[i], end.operand(i), nullptr, block});
  }
  return true;
}

bool Matcher::SolveGoals(size_t first, const Goal* rest) {
  const size_t end = goals_.size();
  for (size_t i = first; i < end; ++i) goals_[i].next = i + 1 < end ? &goals_[i + 1] : rest;
  return Solve(first < end ? &goals_[first] : rest);
}

}  // namespace weft::drr
