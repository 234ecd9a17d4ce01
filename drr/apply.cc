#include "drr/apply.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/infer.h"

namespace weft::drr {

using ir::Operation;
using ir::Type;
using ir::Value;

namespace {

class Transaction {
 public:
  Transaction(const MatchContext& match, ir::Rewriter& rewriter)
      : m_(match), graph_(match.rule().graph), rewriter_(rewriter) {}

  bool Run() {
    Operation before;
    if (!FindInsertionPoint(&before)) return false;
    rewriter_.SetInsertionPoint(before);
    results_.resize(graph_.num_result_values);
    for (int op : graph_.result_order())
      if (!Build(graph_.result_ops[op])) return Rollback();
    if (!CheckTypes()) return Rollback();
    Commit();
    return true;
  }
  const std::string& reason() const { return reason_; }

 private:
  bool Fail(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }

  bool Rollback() {
    for (auto it = created_.rbegin(); it != created_.rend(); ++it) rewriter_.Erase(*it);
    return false;
  }

  bool InMatch(Operation op) const {
    for (size_t i = 0; i < graph_.ops.size(); ++i)
      if (m_.op(static_cast<int>(i)) == op) return true;
    return false;
  }

  Value Source(int id) const { return m_.value(id); }

  // The op of `block` that is `op` or holds it; invalid when op is elsewhere.
  static Operation AncestorIn(Operation op, ir::Block block) {
    while (op && !(op.block() == block)) op = op.ParentOp();
    return op;
  }

  bool IsReplaced(Value v) const {
    return std::any_of(graph_.replacements.begin(), graph_.replacements.end(),
                       [&](const Replacement& r) { return Source(r.source) == v; });
  }

  // Whether others read what a matched op makes and the rule does not replace (Keep).
  bool AnyMatchedOpStays() const {
    for (size_t i = 0; i < graph_.ops.size(); ++i) {
      const Operation op = m_.op(static_cast<int>(i));
      if (!op || op.num_operands() == 0) continue;
      for (Value v : op.results())
        if (!IsReplaced(v))
          for (ir::OpOperand use = v.first_use(); use; use = use.next_use())
            if (!InMatch(use.owner())) return true;
    }
    return false;
  }

  // Before the last root. When other values are replaced too, their readers must come after that
  // point; if one does not, the place before the first such reader is taken, provided that all
  // operands come before it.
  bool FindInsertionPoint(Operation* before) {
    Operation last = Source(graph_.root_value()).DefiningOp();
    for (int root : graph_.roots()) {
      const Operation op = m_.op(root);
      if (last && !(op.block() == last.block())) return Fail("the roots lie in different blocks");
      if (!last || last.IsBefore(op)) last = op;
    }
    *before = last;
    const bool only_of_last =
        std::all_of(graph_.replacements.begin(), graph_.replacements.end(),
                    [&](const Replacement& r) { return Source(r.source).DefiningOp() == last; });
    if (only_of_last) return true;
    const bool all_go = !AnyMatchedOpStays();
    const ir::Block block = last.block();
    Operation first_reader;
    for (const Replacement& r : graph_.replacements) {
      const Value v = Source(r.source);
      for (ir::OpOperand use = v.first_use(); use; use = use.next_use()) {
        const Operation reader = AncestorIn(use.owner(), block);
        if (!reader) return Fail("a replaced value is read in a block that does not see the roots");
        if (all_go && InMatch(use.owner())) continue;
        if (!first_reader || reader.IsBefore(first_reader)) first_reader = reader;
      }
    }
    if (!first_reader || !first_reader.IsBefore(last)) return true;
    *before = first_reader;
    for (const ResultOp& op : graph_.result_ops)
      for (const ResultOperand& operand : op.operands)
        if (!ComesBefore(operand, first_reader))
          return Fail("no place is behind all operands and before all readers");
    for (const Replacement& r : graph_.replacements)
      if (!ComesBefore(r.with, first_reader))
        return Fail("no place is behind all operands and before all readers");
    return true;
  }

  bool ComesBefore(const ResultOperand& operand, Operation point) const {
    if (operand.kind != ResultOperand::kSource) return true;
    const Value v = Source(operand.id);
    if (!v || v.IsBlockArgument()) return true;
    const Operation def = v.DefiningOp();
    return !(def.block() == point.block()) || def.IsBefore(point);
  }

  bool Attributes(const ResultOp& op, ir::AttrDict* dict) {
    std::vector<ir::NamedAttribute> entries;
    if (op.attrs_of >= 0) {
      for (const ir::NamedAttribute& a : m_.op(op.attrs_of).attrs()) {
        const ir::FieldDef* field = op.def->FindField(a.name);
        if (field && field->accepts(a.value)) entries.push_back(a);
      }
      for (const ir::FieldDef& field : op.def->fields) {
        const bool given = std::any_of(entries.begin(), entries.end(),
                                       [&](const auto& e) { return e.name == field.name; });
        if (!given && field.make_default)
          entries.push_back({field.name, field.make_default(*m_.context())});
      }
    }
    for (const ResultAttr& a : op.attrs) {
      ir::Attribute value = a.literal;
      if (a.variable >= 0) value = m_.attr(a.variable);
      if (a.compute) value = a.compute(m_);
      if (!value)
        return Fail(fmt::format("attribute {} of {} cannot be computed{}{}", a.name.str(),
                                op.def->name(), m_.explanation().empty() ? "" : ": ",
                                m_.explanation()));
      entries.push_back({a.name, value});
    }
    *dict = m_.context()->Dict(std::move(entries));
    return true;
  }

  bool Build(const ResultOp& op) {
    ir::OperationState state;
    const ir::OpDef& def = op.def ? *op.def : *m_.op(op.like).def();
    state.opcode = def.opcode;
    if (!op.def) {
      state.attrs = m_.op(op.like).attrs();
    } else if (!Attributes(op, &state.attrs)) {
      return false;
    }
    for (const ResultOperand& operand : op.operands) {
      switch (operand.kind) {
        case ResultOperand::kNone:
          state.operands.emplace_back();
          break;
        case ResultOperand::kSource:
          state.operands.push_back(Source(operand.id));
          break;
        case ResultOperand::kResult:
          state.operands.push_back(results_[operand.id]);
          break;
      }
    }
    while (!state.operands.empty() && !state.operands.back() &&
           state.operands.size() > def.info->operands.size() - NumTrailingOptional(def))
      state.operands.pop_back();
    state.location = Source(graph_.root_value()).DefiningOp().location();
    Operation created;
    std::string error;
    if (!rewriter_.TryCreate(std::move(state), op.results.size(), &created, &error))
      return Fail(std::move(error));
    created_.push_back(created);
    for (size_t i = 0; i < op.results.size(); ++i)
      results_[op.results[i]] = created.result(static_cast<uint32_t>(i));
    return true;
  }

  static size_t NumTrailingOptional(const ir::OpDef& def) {
    size_t n = 0;
    for (const ir::OperandDef& o : def.info->operands) n = o.arity == ir::Arity::kOne ? 0 : n + 1;
    return n;
  }

  Value Replacing(const Replacement& r) const {
    return r.with.kind == ResultOperand::kSource ? Source(r.with.id) : results_[r.with.id];
  }

  // A replacement must have a type compatible with the old one.
  bool CheckTypes() {
    for (const Replacement& r : graph_.replacements) {
      const Type old_type = Source(r.source).type(), new_type = Replacing(r).type();
      const bool unknown =
          new_type.IsTensor() && !new_type.HasRank() && new_type.dtype() == ir::DataType::kNull;
      if (!unknown && !ir::Compatible(new_type, old_type))
        return Fail(fmt::format("the result would be {} in place of {}", new_type.ToString(),
                                old_type.ToString()));
    }
    return true;
  }

  void Commit() {
    for (const Replacement& r : graph_.replacements) {
      const Value from = Source(r.source), to = Replacing(r);
      if (r.with.kind == ResultOperand::kResult) {
        // Keep what either type knows.
        const Type merged = to.type().HasRank()
                                ? ir::Merge(rewriter_.context(), to.type(), from.type())
                                : from.type();
        rewriter_.SetType(to, merged);
        if (!from.name().empty() && to.name().empty())
          rewriter_.program()->SetName(to, from.name());
      }
      rewriter_.ReplaceAllUses(from, to);
    }
    EraseMatched();
  }

  // Readers before producers: an op that lost all its uses goes, others stay.
  void EraseMatched() {
    std::vector<Operation> ops;
    for (size_t i = 0; i < graph_.ops.size(); ++i)
      if (const Operation op = m_.op(static_cast<int>(i))) ops.push_back(op);
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

  const MatchContext& m_;
  const PatternGraph& graph_;
  ir::Rewriter& rewriter_;
  std::vector<Value> results_;
  std::vector<Operation> created_;
  std::string reason_;
};

}  // namespace

bool Apply(const MatchContext& match, ir::Rewriter& rewriter, std::string* reason) {
  Transaction transaction(match, rewriter);
  if (transaction.Run()) return true;
  if (reason) *reason = transaction.reason();
  return false;
}

}  // namespace weft::drr
