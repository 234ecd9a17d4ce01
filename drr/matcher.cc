#include "drr/matcher.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/text/printer.h"

namespace weft::drr {

using ir::Operation;
using ir::Value;

namespace {

std::string NamesOf(const SourceOp& op) {
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
  for (size_t i = 0; i < graph_.values.size(); ++i)
    if (!graph_.values[i].name.empty() && m_->bound_[i])
      failure.bound.emplace_back(graph_.values[i].name, m_->values_[i]);
  return failure;
}

void Matcher::Undo(const Mark& mark) {
  for (; value_trail_.size() > mark.values; value_trail_.pop_back()) {
    m_->values_[value_trail_.back()] = Value();
    m_->bound_[value_trail_.back()] = false;
  }
  for (; op_trail_.size() > mark.ops; op_trail_.pop_back()) {
    m_->ops_[op_trail_.back()] = Operation();
    m_->alternatives_[op_trail_.back()] = -1;
  }
  for (; attr_trail_.size() > mark.attrs; attr_trail_.pop_back())
    m_->attrs_[attr_trail_.back()] = ir::Attribute();
}

void Matcher::BindValue(int id, Value value) {
  m_->values_[id] = value;
  m_->bound_[id] = true;
  value_trail_.push_back(id);
}

bool Matcher::Match(Operation op, MatchContext* match, MatchFailure* failure) {
  m_ = match;
  failure_ = failure;
  value_trail_.clear();
  op_trail_.clear();
  attr_trail_.clear();
  anchor_ = op;
  for (int producer : graph_.RootProducers()) {
    const int id = graph_.Resolve(RootResult(producer));
    const auto index = static_cast<uint32_t>(graph_.values[id].result_index);
    if (index >= op.num_results()) continue;
    if (SolveValue({graph_.root_value(), op.result(index), nullptr})) return true;
    Undo({0, 0, 0});
    break;  // the alternatives of an Either() are tried by SolveValue
  }
  return false;
}

// The result of `producer` that is replaced.
int Matcher::RootResult(int producer) const {
  const int root = graph_.root_value();
  if (graph_.values[root].producer == producer) return root;
  return graph_.ops[producer].results[0];
}

bool Matcher::Solve(const Goal* goal) {
  if (!goal) return SolveRemaining();
  return SolveValue(*goal);
}

bool Matcher::SolveValue(const Goal& goal) {
  const int id = graph_.Resolve(goal.pattern);
  const SourceValue& pattern = graph_.values[id];
  const Value value = goal.value;
  if (m_->bound_[id]) {
    if (m_->values_[id] == value) return Solve(goal.next);
    return Fail([&](MatchFailure& failure) {
      failure.value = value;
      failure.loc = pattern.loc;
      failure.expected = "the value that " + graph_.Describe(id) + " is already";
      failure.found = "another one";
      return graph_.Describe(id) + " would have to be two different values";
    });
  }
  if (!value) {
    if (!pattern.optional)
      return Fail([&](MatchFailure& failure) {
        failure.loc = pattern.loc;
        return graph_.Describe(id) + " is not given";
      });
    const Mark mark = Now();
    BindValue(id, value);
    if (Solve(goal.next)) return true;
    Undo(mark);
    return false;
  }
  if (!pattern.either.empty()) {
    for (int alternative : pattern.either) {
      const Mark mark = Now();
      BindValue(id, value);
      const Goal choice{alternative, value, goal.next};
      if (SolveValue(choice)) return true;
      Undo(mark);
    }
    return false;
  }
  const Mark mark = Now();
  if (pattern.producer < 0) {
    BindValue(id, value);
    if (Solve(goal.next)) return true;
    Undo(mark);
    return false;
  }
  const Operation found = value.DefiningOp();
  const SourceOp& op = graph_.ops[pattern.producer];
  if (!found)
    return Fail([&](MatchFailure& failure) {
      failure.value = value;
      failure.loc = op.loc;
      failure.expected = NamesOf(op);
      failure.found = "a block argument";
      return fmt::format("expected {} but found a block argument", op.alternatives[0].def->name());
    });
  if (value.index() != static_cast<uint32_t>(pattern.result_index))
    return Fail([&](MatchFailure& failure) {
      failure.op = found;
      failure.value = value;
      failure.loc = op.loc;
      failure.expected = fmt::format("result {} of {}", pattern.result_index, NamesOf(op));
      failure.found = fmt::format("result {}", value.index());
      return fmt::format("expected result {} of {} but found result {}", pattern.result_index,
                         op.alternatives[0].def->name(), value.index());
    });
  if (m_->ops_[pattern.producer]) {
    if (!(m_->ops_[pattern.producer] == found))
      return Fail([&](MatchFailure& failure) {
        failure.op = found;
        failure.value = value;
        failure.loc = op.loc;
        return fmt::format("two results come from different {}s", op.alternatives[0].def->name());
      });
    BindValue(id, value);
    if (Solve(goal.next)) return true;
    Undo(mark);
    return false;
  }
  if (SolveOp(pattern.producer, found, goal.next)) return true;
  Undo(mark);
  return false;
}

bool Matcher::MatchAttrs(const Alternative& alternative, Operation found) {
  const ir::AttrDict attrs = found.attrs();
  for (const AttrPattern& pattern : alternative.attrs) {
    ir::Attribute value = attrs.Get(pattern.name);
    if (pattern.kind == AttrPattern::kIsOneOf) {
      if (std::find(pattern.values.begin(), pattern.values.end(), value) == pattern.values.end())
        return Fail(
            [&](MatchFailure& failure) {
              failure.op = found;
              failure.expected = TextOf(pattern.values);
              failure.found = TextOf(value);
              return fmt::format("attribute {} of {} is not what the rule wants",
                                 pattern.name.str(), found.name());
            },
            kAttribute);
    } else if (pattern.kind == AttrPattern::kBind) {
      if (!value && !pattern.values.empty()) value = pattern.values[0];
      if (!value)
        return Fail(
            [&](MatchFailure& failure) {
              failure.op = found;
              return fmt::format("{} has no attribute {}", found.name(), pattern.name.str());
            },
            kAttribute);
      ir::Attribute& variable = m_->attrs_[pattern.variable];
      if (variable && !(variable == value))
        return Fail(
            [&](MatchFailure& failure) {
              failure.op = found;
              failure.expected = TextOf(variable);
              failure.found = TextOf(value);
              return fmt::format("attribute {} of {} differs from an equal one", pattern.name.str(),
                                 found.name());
            },
            kAttribute);
      if (!variable) {
        variable = value;
        attr_trail_.push_back(pattern.variable);
      }
    }
  }
  return true;
}

bool Matcher::SolveOp(int op_id, Operation found, const Goal* rest) {
  const SourceOp& op = graph_.ops[op_id];
  // Programs share what has no operands: equal constants are one operation.
  const bool shareable = found.num_operands() == 0 && found.HasTrait(ir::kPure);
  for (Operation bound : m_->ops_)
    if (bound && bound == found && !shareable)
      return Fail([&](MatchFailure& failure) {
        failure.op = found;
        failure.loc = op.loc;
        return fmt::format("one {} would stand for two", found.name());
      });
  int which = -1;
  for (size_t i = 0; i < op.alternatives.size(); ++i)
    if (op.alternatives[i].def->opcode == found.opcode()) which = static_cast<int>(i);
  if (which < 0)
    return Fail([&](MatchFailure& failure) {
      failure.op = found;
      failure.loc = op.loc;
      failure.expected = NamesOf(op);
      failure.found = found.name();
      return fmt::format("expected {}{} but found {}", op.alternatives[0].def->name(),
                         op.alternatives.size() > 1 ? " (or an alternative)" : "", found.name());
    });
  if (anchor_ && !(found.block() == anchor_.block()) && !found.HasTrait(ir::kConstantLike))
    return Fail([&](MatchFailure& failure) {
      failure.op = found;
      failure.loc = op.loc;
      return fmt::format("{} lies in another block", found.name());
    });
  const Mark mark = Now();
  if (!MatchAttrs(op.alternatives[which], found)) {
    Undo(mark);
    return false;
  }
  m_->ops_[op_id] = found;
  m_->alternatives_[op_id] = which;
  op_trail_.push_back(op_id);
  for (size_t i = 0; i < op.results.size(); ++i) {
    const int id = graph_.Resolve(op.results[i]);
    if (i < found.num_results() && !m_->bound_[id])
      BindValue(id, found.result(static_cast<uint32_t>(i)));
  }
  if (SolveOperands(op_id, found, false, rest)) return true;
  const bool commutative = op.alternatives[which].def->Has(ir::kCommutative);
  if (commutative && op.operands.size() >= 2 && SolveOperands(op_id, found, true, rest))
    return true;
  Undo(mark);
  return false;
}

// Operands beyond those the pattern names must be absent; a named optional one may be.
bool Matcher::SolveOperands(int op_id, Operation found, bool swapped, const Goal* rest) {
  const SourceOp& op = graph_.ops[op_id];
  for (uint32_t i = static_cast<uint32_t>(op.operands.size()); i < found.num_operands(); ++i)
    if (found.operand(i))
      return Fail([&](MatchFailure& failure) {
        failure.op = found;
        failure.value = found.operand(i);
        failure.loc = op.loc;
        return fmt::format("{} has an operand {} the rule does not expect", found.name(), i);
      });
  std::vector<Goal> goals;
  goals.reserve(op.operands.size());
  const Goal* next = rest;
  for (size_t k = op.operands.size(); k > 0; --k) {
    const size_t i = k - 1;
    const size_t at = swapped && i < 2 ? 1 - i : i;
    const Value value =
        at < found.num_operands() ? found.operand(static_cast<uint32_t>(at)) : Value();
    if (op.operands[i] == kAbsent) {
      if (value)
        return Fail([&](MatchFailure& failure) {
          failure.op = found;
          failure.value = value;
          failure.loc = op.loc;
          return fmt::format("operand {} of {} is given", i, found.name());
        });
      continue;
    }
    goals.push_back({op.operands[i], value, next});
    next = &goals.back();
  }
  const Mark mark = Now();
  if (Solve(next)) return true;
  Undo(mark);
  return false;
}

// A root not reached yet that reads a value already bound: joined through that value's uses.
int Matcher::UnboundRoot(int* via_value, int* via_operand) const {
  int unjoined = -1;
  for (int root : graph_.roots()) {
    if (m_->ops_[root]) continue;
    unjoined = root;
    const SourceOp& op = graph_.ops[root];
    for (size_t i = 0; i < op.operands.size(); ++i) {
      if (op.operands[i] == kAbsent) continue;
      const int v = graph_.Resolve(op.operands[i]);
      if (!m_->bound_[v] || !m_->values_[v]) continue;
      *via_value = v;
      *via_operand = static_cast<int>(i);
      return root;
    }
  }
  *via_value = -1;
  return unjoined;
}

bool Matcher::SolveRemaining() {
  int via_value = -1, via_operand = -1;
  const int root = UnboundRoot(&via_value, &via_operand);
  if (root < 0) return Finish();
  if (via_value < 0)
    return Fail([&] { return std::string("two roots of the rule share no value"); });
  const Value shared = m_->values_[via_value];
  for (ir::OpOperand use = shared.first_use(); use; use = use.next_use()) {
    const Mark mark = Now();
    if (SolveOp(root, use.owner(), nullptr)) return true;
    Undo(mark);
  }
  return false;
}

bool Matcher::NoEscapes() {
  for (size_t i = 0; i < graph_.ops.size(); ++i) {
    const Operation op = m_->ops_[i];
    if (!op || op.HasTrait(ir::kConstantLike)) continue;
    if (op.num_operands() == 0 && op.HasTrait(ir::kPure)) continue;  // shared like a constant
    for (uint32_t r = 0; r < op.num_results(); ++r) {
      bool replaced = false, keep = false;
      for (const Replacement& replacement : graph_.replacements)
        replaced |= m_->value(replacement.source) == op.result(r);
      if (r < graph_.ops[i].results.size())
        keep = graph_.values[graph_.Resolve(graph_.ops[i].results[r])].escape == Escape::kKeep;
      if (replaced || keep) continue;
      const Value result = op.result(r);
      for (ir::OpOperand use = result.first_use(); use; use = use.next_use()) {
        const Operation user = use.owner();
        if (std::find(m_->ops_.begin(), m_->ops_.end(), user) != m_->ops_.end()) continue;
        return Fail(
            [&](MatchFailure& failure) {
              failure.op = op;
              failure.value = result;
              failure.user = user;
              failure.loc = graph_.ops[i].loc;
              failure.expected = "no reader outside the match";
              failure.found = user.name();
              return fmt::format("an intermediate value, result {} of {}, is also read by {}", r,
                                 op.name(), user.name());
            },
            kEscape);
      }
    }
  }
  return true;
}

bool Matcher::Finish() {
  if (!NoEscapes()) return false;
  for (const Constraint& constraint : graph_.constraints) {
    m_->explanation_.clear();
    if (constraint.holds(*m_)) continue;
    return Fail(
        [&](MatchFailure& failure) {
          failure.loc = constraint.loc;
          failure.expected = constraint.reason;
          failure.found = m_->explanation_;
          return "does not hold: " + constraint.reason + (m_->explanation_.empty() ? "" : ": ") +
                 m_->explanation_;
        },
        kConstraint);
  }
  return true;
}

}  // namespace weft::drr
