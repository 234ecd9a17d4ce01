#include "drr/engine/applier.h"

#include <fmt/format.h>

#include <algorithm>

#include "drr/engine/erase_order.h"
#include "drr/engine/result_attributes.h"
#include "drr/rule/post_context.h"
#include "ir/infer.h"

namespace weft::drr {

using ir::Operation;
using ir::Type;
using ir::Value;

namespace {

class Transaction {
 public:
  Transaction(const MatchContext& match, std::span<const OpId> erase_order, ir::Rewriter& rewriter)
      : m_(match), graph_(match.rule().graph), erase_order_(erase_order), rewriter_(rewriter) {}
  bool Run();
  const std::string& reason() const { return reason_; }

 private:
  bool Fail(std::string reason);
  bool Rollback();
  bool InMatch(Operation op) const { return m_.Contains(op); }
  // All matched ops, an op that is read after those that read it; absorbed ones last.
  std::vector<Operation> MatchedOps() const;
  Value Source(ValueId id) const { return m_.value(id); }
  // The op of `block` that is `op` or holds it; invalid when op is elsewhere.
  static Operation AncestorIn(Operation op, ir::Block block);
  bool IsReplaced(Value v) const;
  // Whether others read what a matched op makes and the rule does not replace (Keep).
  bool AnyMatchedOpStays() const;
  // Before the last root. When other values are replaced too, their users must come after that
  // point; if one does not, the place before the first such user is taken, provided that all
  // operands come before it.
  bool FindInsertionPoint(Operation* before);
  // Of the matched values that the result reads.
  template <class Predicate>
  bool AnyResultOperand(Predicate predicate) const;
  // Whether all that the result reads can be read at `point`.
  bool AllComeBefore(Operation point) const;
  bool ComesBefore(const ResultOperand& operand, Operation point) const;
  static bool ComesBefore(Value v, Operation point);
  bool IsChain(const ResultOp& op) const {
    return op.like && graph_.ops[op.like].times == Times::kChain;
  }
  // Whether an op at the insertion point may read `v`, which the pattern does not reach.
  bool IsVisible(Value v) const;
  bool Build(const ResultOp& op);
  ir::Name LocationOf(const ResultOp& op) const;
  bool AddOperands(const ResultOperand& operand, std::vector<Value>* operands);
  bool Create(ir::OperationState state, size_t num_results, Operation* created);
  bool BuildEach(const ResultOp& op, const ir::OperationState& common);
  // The ops of a chain again, on another value.
  bool BuildChain(const ResultOp& op);
  Value Replacing(const Replacement& r) const {
    return r.with.kind == ResultOperand::kSource ? Source(r.with.source) : results_[r.with.result];
  }
  // A replacement must be able to keep what the old type states.
  bool CheckTypes();
  void Commit();
  bool IsCreated(Value v) const {
    return std::find(created_.begin(), created_.end(), v.DefiningOp()) != created_.end();
  }
  void RunHooks();
  // Users before defining ops: an op that has no use left is erased, others stay.
  void EraseMatched();

  const MatchContext& m_;
  const PatternGraph& graph_;
  std::span<const OpId> erase_order_;
  ir::Rewriter& rewriter_;
  Operation before_;
  IdVector<ResultValue, Value> results_;
  IdVector<ResultValue, std::vector<Value>> result_lists_;
  std::vector<Operation> created_;
  std::string reason_;
};

bool Transaction::Run() {
  if (!FindInsertionPoint(&before_)) return false;
  rewriter_.SetInsertionPoint(before_);
  results_.resize(graph_.num_result_values);
  if (graph_.HasLists()) result_lists_.resize(graph_.num_result_values);
  for (ResultOpId op : graph_.result_order())
    if (!Build(graph_.result_ops[op])) return Rollback();
  if (!CheckTypes()) return Rollback();
  Commit();
  RunHooks();
  return true;
}

bool Transaction::Fail(std::string reason) {
  reason_ = std::move(reason);
  return false;
}

bool Transaction::Rollback() {
  for (auto it = created_.rbegin(); it != created_.rend(); ++it) rewriter_.Erase(*it);
  return false;
}

std::vector<Operation> Transaction::MatchedOps() const {
  std::vector<Operation> ops;
  for (OpId id : erase_order_) {
    if (graph_.ops[id].times == Times::kOnce) {
      if (m_.op(id)) ops.push_back(m_.op(id));
    } else {
      const std::vector<Operation>& list = m_.op_list(id);
      ops.insert(ops.end(), list.rbegin(), list.rend());
    }
  }
  ops.insert(ops.end(), m_.absorbed().begin(), m_.absorbed().end());
  return ops;
}

Operation Transaction::AncestorIn(Operation op, ir::Block block) {
  while (op && !(op.block() == block)) op = op.ParentOp();
  return op;
}

bool Transaction::IsReplaced(Value v) const {
  return std::any_of(graph_.replacements.begin(), graph_.replacements.end(),
                     [&](const Replacement& r) { return Source(r.source) == v; });
}

bool Transaction::AnyMatchedOpStays() const {
  for (const Operation op : MatchedOps()) {
    if (op.num_operands() == 0) continue;
    for (Value v : op.results())
      if (!IsReplaced(v))
        for (ir::OpOperand use = v.first_use(); use; use = use.next_use())
          if (!InMatch(use.owner())) return true;
  }
  return false;
}

bool Transaction::FindInsertionPoint(Operation* before) {
  Operation last = Source(graph_.root_value()).DefiningOp();
  for (OpId root : graph_.roots()) {
    const Operation op = m_.op(root);
    if (last && !(op.block() == last.block())) return Fail("the roots lie in different blocks");
    if (!last || last.IsBefore(op)) last = op;
  }
  *before = last;
  const bool only_of_last =
      std::all_of(graph_.replacements.begin(), graph_.replacements.end(),
                  [&](const Replacement& r) { return Source(r.source).DefiningOp() == last; });
  if (only_of_last) {
    if (!graph_.HasRegions() || AllComeBefore(last)) return true;
    return Fail("a value of a region is used outside it");
  }
  if (AnyResultOperand([&](Value v) { return IsReplaced(v); }))
    return Fail("the result reads a value that it replaces");
  const bool all_go = !AnyMatchedOpStays() &&
                      !AnyResultOperand([&](Value v) { return v && InMatch(v.DefiningOp()); });
  const ir::Block block = last.block();
  Operation first_user;
  for (const Replacement& r : graph_.replacements) {
    const Value v = Source(r.source);
    for (ir::OpOperand use = v.first_use(); use; use = use.next_use()) {
      const Operation user = AncestorIn(use.owner(), block);
      if (!user) return Fail("a replaced value is used in a block that does not see the roots");
      if (all_go && InMatch(use.owner())) continue;
      if (!first_user || user.IsBefore(first_user)) first_user = user;
    }
  }
  if (!first_user || !first_user.IsBefore(last)) return true;
  *before = first_user;
  return AllComeBefore(first_user) || Fail("no place is behind all operands and before all users");
}

template <class Predicate>
bool Transaction::AnyResultOperand(Predicate predicate) const {
  const auto holds = [&](const ResultOperand& operand) {
    if (operand.kind != ResultOperand::kSource) return false;
    if (!operand.list) return predicate(Source(operand.source));
    const std::vector<Value>& list = m_.list(operand.source);
    return std::any_of(list.begin(), list.end(), predicate);
  };
  for (const ResultOp& op : graph_.result_ops)
    if (std::any_of(op.operands.begin(), op.operands.end(), holds)) return true;
  return std::any_of(graph_.replacements.begin(), graph_.replacements.end(),
                     [&](const Replacement& r) { return holds(r.with); });
}

bool Transaction::AllComeBefore(Operation point) const {
  auto comes_before = [&](const ResultOperand& operand) { return ComesBefore(operand, point); };
  for (const ResultOp& op : graph_.result_ops) {
    if (!std::all_of(op.operands.begin(), op.operands.end(), comes_before)) return false;
    if (!IsChain(op)) continue;
    for (Operation link : m_.op_list(op.like))
      for (Value v : link.operands())
        if (v && !InMatch(v.DefiningOp()) && !ComesBefore(v, point)) return false;
  }
  return std::all_of(graph_.replacements.begin(), graph_.replacements.end(),
                     [&](const Replacement& r) { return comes_before(r.with); });
}

bool Transaction::ComesBefore(const ResultOperand& operand, Operation point) const {
  if (operand.kind != ResultOperand::kSource) return true;
  if (!operand.list) return ComesBefore(Source(operand.source), point);
  const std::vector<Value>& list = m_.list(operand.source);
  return std::all_of(list.begin(), list.end(), [&](Value v) { return ComesBefore(v, point); });
}

bool Transaction::ComesBefore(Value v, Operation point) {
  if (!v) return true;
  const Operation at = AncestorIn(point, v.ParentBlock());
  return at && (v.IsBlockArgument() || v.DefiningOp().IsBefore(at));
}

bool Transaction::IsVisible(Value v) const {
  if (!v.IsAlive() || v.program() != rewriter_.program()) return false;
  Operation user = before_;
  for (; user && !(user.block() == v.ParentBlock()); user = user.ParentOp())
    if (user.ParentOp() && user.ParentOp().HasTrait(ir::kIsolated)) return false;
  return user && (v.IsBlockArgument() || v.DefiningOp().IsBefore(user));
}

bool Transaction::Build(const ResultOp& op) {
  if (IsChain(op)) return BuildChain(op);
  ir::OperationState state;
  const ir::OpDef* def = op.def ? op.def : m_.op(op.like).def();
  if (op.def) {
    state.opcode = op.def->opcode;
    if (!ResultAttributes(op, m_, &state.attrs, &reason_)) return false;
  } else {
    state.opcode = m_.op(op.like).opcode();
    state.attrs = m_.op(op.like).attrs();
    if (!op.attrs.empty() && !ResultAttributes(op, m_, &state.attrs, &reason_)) return false;
    if (m_.op(op.like).num_regions() > 0)
      return Fail(fmt::format("{} has regions, which are not copied", state.opcode.name()));
  }
  if (op.each) return BuildEach(op, state);
  for (const ResultOperand& operand : op.operands)
    if (!AddOperands(operand, &state.operands)) return false;
  state.location = LocationOf(op);
  while (def && !state.operands.empty() && !state.operands.back() &&
         state.operands.size() > MinOperands(*def))
    state.operands.pop_back();
  Operation created;
  const size_t num_results = op.def ? op.results.size() : m_.op(op.like).num_results();
  if (!Create(std::move(state), num_results, &created)) return false;
  for (size_t i = 0; i < op.results.size(); ++i)
    results_[op.results[i]] = created.result(static_cast<uint32_t>(i));
  return true;
}

ir::Name Transaction::LocationOf(const ResultOp& op) const {
  if (!op.location.empty()) return ir::Name(op.location);
  const Value like = Source(op.location_of ? op.location_of : graph_.root_value());
  return like && like.DefiningOp() ? like.DefiningOp().location() : ir::Name();
}

bool Transaction::AddOperands(const ResultOperand& operand, std::vector<Value>* operands) {
  if (operand.kind == ResultOperand::kNone) {
    operands->emplace_back();
  } else if (operand.kind == ResultOperand::kOutside) {
    const OutsideValue& outside = graph_.outside[operand.outside];
    if (!IsVisible(outside.value))
      return Fail(fmt::format("node '{}' is gone or comes too late", outside.node));
    operands->push_back(outside.value);
  } else if (operand.list) {
    const std::vector<Value>& list = operand.kind == ResultOperand::kSource
                                         ? m_.list(operand.source)
                                         : result_lists_[operand.result];
    operands->insert(operands->end(), list.begin(), list.end());
  } else {
    operands->push_back(operand.kind == ResultOperand::kSource ? Source(operand.source)
                                                               : results_[operand.result]);
  }
  return true;
}

bool Transaction::Create(ir::OperationState state, size_t num_results, Operation* created) {
  std::string error;
  if (state.location.empty()) state.location = Source(graph_.root_value()).DefiningOp().location();
  if (!rewriter_.TryCreate(std::move(state), num_results, created, &error))
    return Fail(std::move(error));
  created_.push_back(*created);
  return true;
}

bool Transaction::BuildEach(const ResultOp& op, const ir::OperationState& common) {
  std::vector<Value> elements;
  if (!AddOperands(op.operands[0], &elements)) return false;
  for (Value element : elements) {
    ir::OperationState state = common;
    state.operands.push_back(element);
    for (size_t i = 1; i < op.operands.size(); ++i)
      if (!AddOperands(op.operands[i], &state.operands)) return false;
    Operation created;
    if (!Create(std::move(state), 1, &created)) return false;
    result_lists_[op.results[0]].push_back(created.result());
  }
  return true;
}

bool Transaction::BuildChain(const ResultOp& op) {
  std::vector<Value> operands;
  if (!AddOperands(op.operands[0], &operands)) return false;
  Value value = operands[0];
  for (Operation link : m_.op_list(op.like)) {
    ir::OperationState state{
        .opcode = link.opcode(), .operands = link.operands().vec(), .attrs = link.attrs()};
    state.operands[MatchContext::ChainOperand(link)] = value;
    Operation created;
    if (!Create(std::move(state), 1, &created)) return false;
    value = created.result();
  }
  results_[op.results[0]] = value;
  return true;
}

bool Transaction::CheckTypes() {
  for (const Replacement& r : graph_.replacements)
    if (const Value from = Source(r.source), to = Replacing(r); !ir::MeetTypes(from, to))
      return Fail(fmt::format("the result would be {} in place of {}", to.type().ToString(),
                              from.type().ToString()));
  return true;
}

void Transaction::Commit() {
  for (const Replacement& r : graph_.replacements) {
    const Value from = Source(r.source), to = Replacing(r);
    if (IsCreated(to) && !from.name().empty() && to.name().empty())
      rewriter_.program()->SetName(to, from.name());
    rewriter_.ReplaceAllUses(from, to);
  }
  EraseMatched();
}

void Transaction::RunHooks() {
  PostContext context(&m_, &rewriter_, &created_, &results_);
  for (const PostHook& hook : graph_.post_hooks) hook.run(context);
}

void Transaction::EraseMatched() {
  std::vector<Operation> ops = MatchedOps();
  for (bool changed = true; changed;) {
    changed = false;
    for (Operation& op : ops) {
      if (!op.IsAlive() || !op.IsUnused()) continue;  // two may be one shared constant
      if (!op.HasTrait(ir::kPure) && op.num_results() == 0) continue;
      rewriter_.Erase(op);
      op = Operation();
      changed = true;
    }
  }
}

}  // namespace

bool Apply(const MatchContext& match, std::span<const OpId> erase_order, ir::Rewriter& rewriter,
           std::string* reason) {
  Transaction transaction(match, erase_order, rewriter);
  if (transaction.Run()) return true;
  if (reason) *reason = transaction.reason();
  return false;
}

bool Apply(const MatchContext& match, ir::Rewriter& rewriter, std::string* reason) {
  return Apply(match, EraseOrder(match.rule().graph), rewriter, reason);
}

}  // namespace weft::drr
