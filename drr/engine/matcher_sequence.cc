// Matching what stands for several ops or values: lists of operands, an op for each of a list,
// chains of ops, and ops that are skipped.
#include <fmt/format.h>

#include <algorithm>

#include "drr/engine/matcher.h"

namespace weft::drr {

using ir::Block;
using ir::Operation;
using ir::Value;

bool Matcher::SolveList(const Goal& goal, ValueId id) {
  std::vector<Value> elements;
  const size_t size = goal.elements ? goal.elements->size() : goal.end - goal.begin;
  list_elements_ += size;
  if (list_elements_ > kMaxListElements)
    return Fail([&] { return fmt::format("given up after {} list elements", kMaxListElements); },
                kConstraint);
  if (goal.elements) {
    elements = *goal.elements;
  } else {
    elements.reserve(size);
    for (uint32_t i = goal.begin; i < goal.end; ++i) elements.push_back(goal.list_of.operand(i));
  }
  if (m_->bound_[id]) {
    if (m_->lists_[id] == elements) return Solve(goal.next);
    return Fail([&] { return graph_.Describe(id) + " would have to be two different lists"; });
  }
  const Mark mark = Now();
  if (graph_.values[id].producer) {
    if (SolveEach(goal, id, std::move(elements))) return true;
  } else {
    BindValue(id, Value());
    m_->lists_[id] = std::move(elements);
    if (Solve(goal.next)) return true;
  }
  Undo(mark);
  return false;
}

// Every element, of which there must be one, is defined by an op of the pattern: there are no
// choices, so no backtracking between them.
bool Matcher::SolveEach(const Goal& goal, ValueId id, std::vector<Value> elements) {
  const OpId op_id = graph_.values[id].producer;
  const SourceOp& op = graph_.ops[op_id];
  if (elements.empty()) return Fail([&] { return graph_.Describe(id) + " is empty"; });
  std::vector<Operation> ops;
  std::vector<Value> inner;
  for (size_t i = 0; i < elements.size(); ++i) {
    const Value v = elements[i];
    const Operation found = v ? v.DefiningOp() : Operation();
    const int which = found && v.index() == 0 ? WhichAlternative(op, found) : -1;
    if (which < 0)
      return Fail([&](MatchFailure& failure) {
        failure.op = found;
        failure.value = v;
        failure.loc = op.loc;
        return fmt::format("expected {} for element {} of {} but found {}", op.Name(), i,
                           graph_.Describe(id), found ? found.name() : "a block argument");
      });
    if (goal.block && !(found.block() == goal.block))
      return Fail([&](MatchFailure& failure) {
        failure.op = found;
        failure.loc = op.loc;
        return fmt::format("{} lies in another block", found.name());
      });
    if (!op.alternatives.empty() && !MatchAttrs(op.alternatives[which], found)) return false;
    for (uint32_t k = 0; k < found.num_operands(); ++k)
      if (static_cast<bool>(found.operand(k)) != (k == 0))
        return Fail([&](MatchFailure& failure) {
          failure.op = found;
          failure.loc = op.loc;
          return fmt::format("{} does not have exactly its first operand", found.name());
        });
    if (found.num_operands() == 0)
      return Fail([&](MatchFailure& failure) {
        failure.op = found;
        failure.loc = op.loc;
        return fmt::format("{} has no operand", found.name());
      });
    ops.push_back(found);
    inner.push_back(found.operand(0));
  }
  BindOp(op_id, ops[0], 0);
  m_->op_lists_[op_id] = std::move(ops);
  BindValue(id, Value());
  m_->lists_[id] = std::move(elements);
  return SolveValue({op.operands[0], Value(), goal.next, goal.block, {}, 0, 0, &inner});
}

// The ops that end in `value`, outermost first, as many as the pattern allows.
std::vector<Operation> Matcher::CollectChain(const SourceOp& op, Value value, Block block) {
  std::vector<Operation> chain;
  const bool keeps = graph_.values[graph_.Resolve(op.results[0])].escape != Escape::kForbid;
  while (chain.size() < static_cast<size_t>(op.max_times)) {
    const Operation found = value.DefiningOp();
    if (!found || value.index() != 0 || found.num_operands() == 0 || found.num_regions() > 0) break;
    if (block && !(found.block() == block)) break;
    if (!chain.empty() && !keeps && !value.HasOneUse()) break;
    if (std::find(m_->ops_.begin(), m_->ops_.end(), found) != m_->ops_.end()) break;
    const int which = WhichAlternative(op, found);
    if (which < 0) break;
    if (!op.alternatives.empty() && !MatchAttrs(op.alternatives[which], found)) break;
    chain.push_back(found);
    value = found.operand(MatchContext::ChainOperand(found));
    if (!value) break;
  }
  return chain;
}

// The longest chain first: what a plain value below it would match at once otherwise.
bool Matcher::SolveChain(const Goal& goal, ValueId id) {
  const OpId op_id = graph_.values[id].producer;
  const SourceOp& op = graph_.ops[op_id];
  std::vector<Operation> chain = CollectChain(op, goal.value, goal.block);
  std::reverse(chain.begin(), chain.end());
  if (chain.size() < static_cast<size_t>(op.min_times))
    return Fail([&](MatchFailure& failure) {
      failure.value = goal.value;
      failure.loc = op.loc;
      return fmt::format("expected {} or more of {} in a row but found {}", op.min_times, op.Name(),
                         chain.size());
    });
  const size_t all = chain.size();
  for (size_t size = all + 1; size-- > static_cast<size_t>(op.min_times);) {
    const Mark mark = Now();
    const std::vector<Operation> ops(chain.begin() + static_cast<ptrdiff_t>(all - size),
                                     chain.end());
    const Value below =
        ops.empty() ? goal.value : ops[0].operand(MatchContext::ChainOperand(ops[0]));
    BindOp(op_id, ops.empty() ? Operation() : ops.back(), ops.empty() ? -1 : 0);
    m_->op_lists_[op_id] = ops;
    BindValue(id, goal.value);
    if (below && SolveValue({op.operands[0], below, goal.next, goal.block})) return true;
    Undo(mark);
  }
  return false;
}

// The deepest value first, so that what is skipped is seen through.
bool Matcher::SolveSkip(const Goal& goal, ValueId id) {
  const SourceValue& pattern = graph_.values[id];
  std::vector<Value> values{goal.value};
  std::vector<Operation> ops;
  while (goal.value && ops.size() < kMaxSkipped) {
    const Operation found = values.back().DefiningOp();
    if (!found || values.back().index() != 0 || !found.HasOperand(0)) break;
    const auto skipped =
        std::find_if(pattern.skipped.begin(), pattern.skipped.end(),
                     [&](const SkippedOp& s) { return s.def->opcode == found.opcode(); });
    if (skipped == pattern.skipped.end()) break;
    if (goal.block && !(found.block() == goal.block)) break;
    if (skipped->same_type && !ir::ProvablySameType(found.operand(0).type(), values.back().type()))
      break;
    ops.push_back(found);
    values.push_back(found.operand(0));
  }
  for (size_t n = ops.size() + 1; n-- > 0;) {
    const Mark mark = Now();
    BindValue(id, goal.value);
    m_->skipped_.insert(m_->skipped_.end(), ops.begin(), ops.begin() + static_cast<ptrdiff_t>(n));
    if (SolveValue({pattern.through, values[n], goal.next, goal.block})) return true;
    Undo(mark);
  }
  return false;
}

}  // namespace weft::drr
