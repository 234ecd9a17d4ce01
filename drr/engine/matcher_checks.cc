// What is seen at a glance, joining secondary roots of a rule, and what a complete match must fulfil before it
// counts.
#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "drr/engine/match_semantics.h"
#include "drr/engine/matcher.h"
#include "ir/walk.h"

namespace weft::drr {

using ir::Operation;
using ir::Value;

namespace {

// Words that take no longer than to look at their value.
constexpr std::string_view kOfConstants[] = {"constant", "splat_is", "signed_zero", "positive"};
constexpr std::string_view kOfAny[] = {"not_constant", "rank_is", "dtype_is",
                                       "dim_is",       "float",   "integer"};

bool Contains(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool IsOfOneValue(const Formula& formula) {
  using Argument = Formula::Argument;
  const auto& arguments = formula.arguments;
  return !arguments.empty() && arguments[0].kind == Argument::kValue &&
         std::none_of(arguments.begin() + 1, arguments.end(),
                      [](const Argument& a) { return a.kind == Argument::kValue; });
}

}  // namespace

Matcher::Matcher(const Rule& rule)
    : rule_(rule),
      graph_(rule.graph),
      root_producers_(graph_.RootProducers()),
      constants_(graph_.values.size(), false) {
  for (const Constraint& constraint : graph_.constraints) {
    const Formula& formula = constraint.formula;
    const bool of_constant = Contains(kOfConstants, formula.name);
    if (!IsOfOneValue(formula) || !(of_constant || Contains(kOfAny, formula.name))) continue;
    const ValueId id = graph_.Resolve(formula.arguments[0].value);
    if (graph_.values[id].list) continue;
    quick_.emplace_back(id, &constraint);
    constants_[id] = constants_[id] || of_constant;
  }
}

bool Matcher::MayBe(ValueId id) const { return failure_ || probing_ || !Refuting(id); }

const Constraint* Matcher::Refuting(ValueId id) const {
  // An attribute may be of an operation that is matched later.
  const auto is_known = [&](const Formula::Argument& argument) {
    return argument.kind != Formula::Argument::kVariable || m_->attrs_[argument.variable];
  };
  for (const auto& [of, constraint] : quick_) {
    if (!(of == id)) continue;
    const auto& arguments = constraint->formula.arguments;
    if (std::all_of(arguments.begin(), arguments.end(), is_known) && !constraint->holds(*m_))
      return constraint;
  }
  return nullptr;
}

bool Matcher::MayDivideLists(const SourceOp& op, Operation found, uint32_t first_list) {
  if (probing_) return true;
  uint32_t at = 0, lists = 0;
  for (const ValueId operand : op.operands) {
    const ValueId id = operand ? graph_.Resolve(operand) : ValueId();
    if (operand && graph_.values[id].list) {
      if (++lists == 2) break;
      at += first_list;
      continue;
    }
    const Value value = found.operand(at++);
    if (lists == 0 || !operand) continue;
    if (!failure_ && !Plausible(operand, value)) return false;
    const SourceValue& pattern = graph_.values[id];
    if (!value || m_->bound_[id] || pattern.through || pattern.producer || !pattern.either.empty())
      continue;
    const Mark mark = Now();
    BindValue(id, value);
    m_->explanation_.clear();
    const Constraint* const refuting = Refuting(id);
    if (refuting && failure_) FailConstraint(*refuting);
    Undo(mark);
    if (refuting) return false;
  }
  return true;
}

bool Matcher::Plausible(ValueId pattern, Value value) const {
  const ValueId id = graph_.Resolve(pattern);
  const SourceValue& p = graph_.values[id];
  if (!value) return true;
  const Operation found = value.DefiningOp();
  if (!p.either.empty())
    return std::any_of(p.either.begin(), p.either.end(),
                       [&](ValueId alternative) { return Plausible(alternative, value); });
  if (p.through)
    return Plausible(p.through, value) ||
           (found && std::any_of(p.skipped.begin(), p.skipped.end(), [&](const SkippedOp& op) {
              return op.def->opcode == found.opcode();
            }));
  if (constants_[id] && !probing_ && !ir::ConstantValue(value)) return false;
  if (!p.producer || graph_.ops[p.producer].times != Times::kOnce) return true;
  return found && WhichAlternative(graph_.ops[p.producer], found) >= 0;
}

// An op at or below `root` that uses a value already bound: of those values the one with the
// fewest uses.
bool Matcher::FindJoin(OpId root, OpId* join_op, ValueId* via_value) const {
  const SourceOp& op = graph_.ops[root];
  if (op.times != Times::kOnce) return false;
  *via_value = ValueId();
  for (ValueId operand : op.operands) {
    if (!operand) continue;
    const ValueId v = graph_.Resolve(operand);
    if (!m_->bound_[v] || !m_->values_[v]) continue;
    if (!*via_value || m_->values_[v].use_count() < m_->values_[*via_value].use_count())
      *via_value = v;
  }
  *join_op = root;
  if (*via_value) return true;
  for (ValueId operand : op.operands) {
    if (!operand) continue;
    const SourceValue& v = graph_.values[graph_.Resolve(operand)];
    if (!v.producer || v.optional || m_->ops_[v.producer]) continue;
    if (FindJoin(v.producer, join_op, via_value)) return true;
  }
  return false;
}

bool Matcher::Join(OpId op, ValueId via_value) {
  uint32_t uses = 0, candidates = 0;
  const Value shared = m_->values_[via_value];
  for (ir::OpOperand use = shared.first_use(); use; use = use.next_use()) {
    if (++uses > kMaxJoinUses) break;
    const Operation user = use.owner();
    if (WhichAlternative(graph_.ops[op], user) < 0) continue;
    if (++candidates > kMaxJoinCandidates) break;
    const Mark mark = Now();
    if (SolveOp(op, user, nullptr, root_block_)) return true;
    Undo(mark);
  }
  return Fail([&](MatchFailure& failure) {
    failure.value = shared;
    failure.loc = graph_.ops[op].loc;
    return fmt::format(
        "no {} beside it reads {}{}", graph_.ops[op].Name(), graph_.Describe(via_value),
        candidates > kMaxJoinCandidates || uses > kMaxJoinUses ? " (not all users were tried)"
                                                               : "");
  });
}

bool Matcher::SolveRemaining() {
  if (probing_) return true;
  bool complete = true;
  for (OpId root : graph_.roots()) {
    if (m_->ops_[root]) continue;
    complete = false;
    OpId op;
    ValueId via_value;
    if (FindJoin(root, &op, &via_value)) return Join(op, via_value);
  }
  if (complete) return Finish();
  return Fail([&] { return std::string("two roots of the rule share no value"); });
}

bool Matcher::FailConstraint(const Constraint& constraint) {
  return Fail(
      [&](MatchFailure& failure) {
        failure.loc = constraint.loc;
        failure.expected = constraint.reason;
        failure.found = m_->explanation_;
        return (constraint.profitable ? "not profitable: " : "does not hold: ") +
               constraint.reason + (m_->explanation_.empty() ? "" : ": ") + m_->explanation_;
      },
      kConstraint);
}

bool Matcher::Finish() {
  if (!IndexOps()) return false;
  AbsorbSkipped();
  if (!NoEscapes() || !NotsHold()) return false;
  for (const Constraint& constraint : graph_.constraints) {
    m_->explanation_.clear();
    if (!constraint.holds(*m_)) return FailConstraint(constraint);
  }
  return true;
}

// The ops of lists, sorted, so that asking for one is fast; no op may be in two places.
bool Matcher::IndexOps() {
  m_->sorted_.clear();
  if (m_->op_lists_.empty()) return true;
  std::vector<uint32_t> once;
  for (OpId i : m_->op_lists_.ids()) {
    const std::vector<Operation>& list = m_->op_lists_[i];
    if (graph_.ops[i].times == Times::kOnce) {
      if (m_->ops_[i] && !IsShared(m_->ops_[i])) m_->sorted_.push_back(m_->ops_[i].id());
      continue;
    }
    // An Each() may hold one op several times: the same value may be listed twice.
    once.clear();
    for (Operation op : list) once.push_back(op.id());
    std::sort(once.begin(), once.end());
    once.erase(std::unique(once.begin(), once.end()), once.end());
    m_->sorted_.insert(m_->sorted_.end(), once.begin(), once.end());
  }
  std::sort(m_->sorted_.begin(), m_->sorted_.end());
  const bool distinct =
      std::adjacent_find(m_->sorted_.begin(), m_->sorted_.end()) == m_->sorted_.end();
  return distinct || Fail([] { return std::string("one op would be bound to two pattern ops"); });
}

// A skipped op that only the match uses belongs to it; else it is an external use of what is below.
void Matcher::AbsorbSkipped() {
  m_->absorbed_.clear();
  for (Operation op : m_->skipped_) {  // users come first
    if (m_->Contains(op)) continue;
    bool inside = true;
    for (Value v : op.results())
      for (ir::OpOperand use = v.first_use(); use && inside; use = use.next_use())
        inside = m_->Contains(use.owner());
    if (inside) m_->absorbed_.push_back(op);
  }
}

bool Matcher::NoEscapes() {
  for (OpId id : graph_.ops.ids()) {
    if (graph_.ops[id].times != Times::kOnce) {
      for (Operation op : m_->op_lists_[id])
        if (!NoEscape(id, op)) return false;
    } else if (m_->ops_[id] && !NoEscape(id, m_->ops_[id])) {
      return false;
    }
  }
  return true;
}

bool Matcher::NoEscape(OpId op_id, Operation op) {
  const ir::OpDef* def = op.def();
  if (MayHaveExternalUses(op.num_operands(), def ? def->traits : ir::kNone)) return true;
  const SourceOp& pattern = graph_.ops[op_id];
  bool all_kept = true;
  for (uint32_t r = 0; r < op.num_results(); ++r) {
    bool replaced = false, keep = false;
    for (const Replacement& replacement : graph_.replacements)
      replaced |= m_->value(replacement.source) == op.result(r);
    if (r < pattern.results.size())
      keep = graph_.values[graph_.Resolve(pattern.results[r])].escape != Escape::kForbid;
    all_kept &= keep;
    if (replaced || keep) continue;
    const ir::GraphView view(op.program());
    const uint32_t external = ExternalUser(view, op.result(r).id(), [&](uint32_t user) {
      return m_->Contains(view.OperationAt(user));
    });
    if (external == ir::kNoId) continue;
    return Fail(
        [&](MatchFailure& failure) {
          const Operation user = view.OperationAt(external);
          failure.op = op;
          failure.value = op.result(r);
          failure.user = user;
          failure.loc = pattern.loc;
          failure.expected = "no use outside the match";
          failure.found = user.name();
          return fmt::format("an intermediate value, result {} of {}, is also used by {}", r,
                             op.name(), user.name());
        },
        kEscape);
  }
  return all_kept || MayBeErased(op_id, op);
}

// What a rule names it may replace; of what it does not name, only what has no effect.
bool Matcher::MayBeErased(OpId op_id, Operation op) {
  const SourceOp& pattern = graph_.ops[op_id];
  if (pattern.alternatives.empty() && pattern.opcode.empty() && !op.HasTrait(ir::kPure))
    return Fail(
        [&](MatchFailure& failure) {
          failure.op = op;
          failure.loc = pattern.loc;
          return fmt::format("{} is not known to be pure", op.name());
        },
        kEscape);
  Operation impure;
  for (uint32_t i = 0; i < op.num_regions(); ++i)
    ir::Walk(op.region(i), [&](Operation inner) {
      if (!inner.HasTrait(ir::kPure) && !inner.HasTrait(ir::kTerminator) && !m_->Contains(inner))
        impure = inner;
    });
  if (!impure) return true;
  return Fail(
      [&](MatchFailure& failure) {
        failure.op = impure;
        failure.loc = pattern.loc;
        return fmt::format("{} in a region of {} is not pure", impure.name(), op.name());
      },
      kEscape);
}

bool Matcher::NotsHold() {
  for (ValueId id : graph_.values.ids()) {
    const Value value = m_->values_[id];
    if (!value) continue;
    for (ValueId pattern : graph_.values[id].nots) {
      const bool made = IsMadeBy(value, pattern);
      if (steps_ > kMaxSteps) return false;
      if (made)
        return Fail(
            [&](MatchFailure& failure) {
              failure.op = value.DefiningOp();
              failure.value = value;
              failure.loc = graph_.values[id].loc;
              return fmt::format("{} is defined by {}, which the rule excludes",
                                 graph_.Describe(id), value.DefiningOp().name());
            },
            kConstraint);
    }
  }
  return true;
}

bool Matcher::IsMadeBy(Value value, ValueId pattern) {
  MatchFailure* failure = std::exchange(failure_, nullptr);
  const Mark mark = Now();
  probing_ = true;
  const bool made = SolveValue({pattern, value, nullptr, ir::Block()});
  probing_ = false;
  Undo(mark);
  failure_ = failure;
  return made;
}

}  // namespace weft::drr
