#include "drr/engine/fast_applier.h"

#include <fmt/format.h>

#include <algorithm>

#include "drr/engine/erase_order.h"
#include "drr/engine/result_attributes.h"
#include "drr/rule/arity.h"
#include "ir/infer.h"

namespace weft::drr {

using ir::kNoId;
using ir::Operation;
using ir::Type;
using ir::Value;

bool PlainApplier::Supports(const Rule& rule) {
  const PatternGraph& graph = rule.graph;
  if (graph.replacements.size() != 1 || !graph.post_hooks.empty()) return false;
  if (graph.Resolve(graph.replacements[0].source) != graph.Resolve(graph.root_value()))
    return false;
  if (!graph.outside.empty() || graph.ops.size() > kMaxOps) return false;
  // An op that is like a matched one is one of these.
  const auto has_one_result = [](const Alternative& a) {
    const ir::OpInfo& info = *a.def->info;
    return info.num_regions == 0 && info.results.size() == 1 && !IsVariadic(info.results);
  };
  return std::all_of(graph.result_ops.begin(), graph.result_ops.end(), [&](const ResultOp& op) {
    if (!op.def) {
      const SourceOp& like = graph.ops[op.like];
      if (like.alternatives.empty() || like.times != Times::kOnce ||
          !std::all_of(like.alternatives.begin(), like.alternatives.end(), has_one_result))
        return false;
    }
    return op.results.size() == 1 && (!op.def || op.def->info->num_regions == 0) &&
           op.operands.size() <= ir::Rewriter::kMaxInPlaceOperands && !op.location_of &&
           op.location.empty();
  });
}

PlainApplier::PlainApplier(const Rule& rule, const PlainMatcher& matcher, PlainMatch* match)
    : match_(*match),
      replaced_(rule.graph.Resolve(rule.graph.replacements[0].source)),
      graph_(rule.graph),
      matcher_(matcher) {
  with_ = Resolved(graph_.replacements[0].with);
  match->results.resize(std::max<size_t>(match->results.size(), graph_.num_result_values));
  for (ResultOpId number : graph_.result_order()) {
    OpPlan plan;
    plan.op = &graph_.result_ops[number];
    plan.result = plan.op->results[0];
    if (plan.op->def) {
      plan.opcode = plan.op->def->opcode;
      plan.min_operands = static_cast<uint32_t>(MinOperands(*plan.op->def));
    }
    for (const ResultOperand& operand : plan.op->operands)
      plan.operands.push_back(Resolved(operand));
    plan.is_like = static_cast<bool>(plan.op->like);
    plan.copies = plan.op->def ? plan.op->attrs_of : plan.op->like;
    plan.computes = static_cast<bool>(plan.copies);
    for (const ResultAttr& attr : plan.op->attrs) plan.computes |= !attr.literal;
    plan.remember =
        !plan.computes || graph_.attrs.size() + bool{plan.copies} + plan.is_like <= kMaxKey;
    match_.operands.resize(std::max(match_.operands.size(), plan.operands.size()));
    plans_.push_back(std::move(plan));
  }
  in_place_ = with_.kind == ResultOperand::kResult && !plans_.empty() &&
              plans_.back().result == with_.result &&
              graph_.ops[matcher.OpAt(0)].results.size() == 1;
  PlanErasing();
}

void PlainApplier::PlanErasing() {
  std::vector<ErasePlan> plans(matcher_.num_ops());
  for (int user = 0; user < matcher_.num_ops(); ++user)
    for (ValueId operand : graph_.ops[matcher_.OpAt(user)].operands) {
      const OpId made_by = operand ? graph_.values[graph_.Resolve(operand)].producer : OpId();
      if (!made_by) continue;
      ErasePlan& used = plans[matcher_.PlaceOf(made_by)];
      used.users |= uint64_t{1} << user;
      ++used.uses;
    }
  const auto need = [&](const ResultOperand& operand) {
    if (operand.kind != ResultOperand::kSource) return;
    if (const OpId made_by = graph_.values[operand.source].producer)
      plans[matcher_.PlaceOf(made_by)].needed = true;
  };
  need(with_);
  for (const OpPlan& plan : plans_)
    for (const ResultOperand& operand : plan.operands) need(operand);
  for (const OpId op : EraseOrder(graph_)) {
    const int place = matcher_.PlaceOf(op);
    if (place == 0) continue;  // the root
    plans[place].place = place;
    erase_order_.push_back(plans[place]);
  }
}

bool PlainApplier::Fail(std::string* reason, std::string text) {
  if (reason) *reason = std::move(text);
  return false;
}

ResultOperand PlainApplier::Resolved(ResultOperand operand) const {
  if (operand.kind == ResultOperand::kSource) operand.source = graph_.Resolve(operand.source);
  return operand;
}

bool PlainApplier::Apply(const ir::GraphView& view, MatchContext* context, ir::Rewriter& rewriter,
                         std::string* reason) {
  context_ = context;
  filled_ = false;
  match_.created.clear();
  const Operation root = view.OperationAt(match_.ops[0].op);
  const bool in_place = in_place_ && !(view.record(root.id()).flags & ~ir::internal::kOpHasResult);
  const size_t num_built = plans_.size() - in_place;
  bool done = true;
  for (size_t i = 0; done && i < num_built; ++i) done = Build(plans_[i], root, rewriter, reason);
  if (done)
    done = in_place ? ReplaceRoot(root, rewriter, reason) : ReplaceUses(root, rewriter, reason);
  if (done) return true;
  for (auto it = match_.created.rbegin(); it != match_.created.rend(); ++it) rewriter.Erase(*it);
  return false;
}

// What was remembered for the attributes matched, or the place for it.
PlainApplier::Memo& PlainApplier::FindMemo(OpPlan& plan) {
  if (!plan.computes || !plan.remember) return plan.memos[0];
  std::array<uint32_t, kMaxKey> key{};
  size_t n = 0;
  for (AttrId a : graph_.attrs.ids()) key[n++] = match_.attrs[a].id();
  if (plan.copies) key[n++] = match_.view->attrs(match_.ops[matcher_.PlaceOf(plan.copies)].op);
  if (plan.is_like) key[n++] = plan.opcode.id();
  uint64_t hash = 0;
  for (size_t i = 0; i < n; ++i) hash = (hash ^ key[i]) * 0x9e3779b97f4a7c15u;
  for (;;) {
    const size_t mask = plan.memos.size() - 1, at = hash >> 32;
    Memo* free = nullptr;
    for (size_t i = 0; i < std::min(mask + 1, kProbes); ++i) {
      Memo& memo = plan.memos[(at + i) & mask];
      if (memo.key == key) return memo;
      if (!memo.has_attrs && free == nullptr) free = &memo;
    }
    if (free == nullptr && plan.memos.size() == kMaxMemos) free = &plan.memos[at & mask];
    if (free != nullptr) {
      *free = {};
      free->key = key;
      return *free;
    }
    // Other combinations live there: make room for all, and forget them.
    plan.memos = absl::InlinedVector<Memo, 1>(4 * plan.memos.size());
  }
}

bool PlainApplier::ComputeAttributes(OpPlan& plan, Memo& memo, ir::AttrDict* attrs,
                                     std::string* reason) {
  if (!filled_) matcher_.Fill(context_);
  filled_ = true;
  std::string why;
  bool pure = false;
  if (!ResultAttributes(*plan.op, *context_, attrs, &why, &pure))
    return Fail(reason, std::move(why));
  memo.attrs = *attrs;
  memo.has_attrs = pure && plan.remember;
  memo.has_type = false;
  return true;
}

bool PlainApplier::InferType(Memo& memo, ir::RawOperationState* state, std::string* reason) {
  ir::IrContext* context = graph_.context();
  std::vector<Value> operands;
  for (const uint32_t operand : state->operands)
    operands.push_back(operand == kNoId ? Value() : match_.view->ValueAt(operand));
  std::string error;
  bool pure = false;
  if (!ir::InferResultTypes(context, state->opcode, operands, state->attrs, {&state->type, 1},
                            &error, &pure))
    return Fail(reason, std::move(error));
  if (!state->type) state->type = context->UnrankedTensorType(ir::DataType::kNull);
  memo.has_type = pure && memo.has_attrs && operands.size() <= memo.operand_types.size();
  if (!memo.has_type) return true;
  memo.type = state->type;
  memo.num_operands = static_cast<uint8_t>(operands.size());
  for (size_t i = 0; i < operands.size(); ++i)
    memo.operand_types[i] = operands[i] ? operands[i].type().id() : kNoId;
  return true;
}

[[gnu::always_inline]] inline bool PlainApplier::Prepare(OpPlan& plan, ir::RawOperationState* state,
                                                         std::string* reason) {
  if (plan.is_like) [[unlikely]] {
    const ir::OpDef& def = *match_.ops[matcher_.PlaceOf(plan.op->like)].alternative->def;
    plan.opcode = def.opcode;
    plan.min_operands = static_cast<uint32_t>(MinOperands(def));
  }
  uint32_t* const operands = match_.operands.data();
  size_t count = 0;
  for (const ResultOperand& operand : plan.operands) operands[count++] = NumberOf(operand);
  while (count > plan.min_operands && operands[count - 1] == kNoId) --count;
  state->opcode = plan.opcode;
  state->operands = {operands, count};
  Memo& memo = FindMemo(plan);
  state->attrs = memo.attrs;
  if (!memo.has_attrs && !ComputeAttributes(plan, memo, &state->attrs, reason)) return false;
  if (memo.has_type && memo.num_operands == count) {
    uint32_t different = 0;
    for (size_t i = 0; i < count; ++i)
      different |=
          memo.operand_types[i] ^ (operands[i] == kNoId ? kNoId : match_.view->type(operands[i]));
    if (different == 0) {
      state->type = memo.type;
      return true;
    }
  }
  return InferType(memo, state, reason);
}

bool PlainApplier::Build(OpPlan& plan, Operation root, ir::Rewriter& rewriter,
                         std::string* reason) {
  ir::RawOperationState state;
  if (!Prepare(plan, &state, reason)) return false;
  Insert(plan, root, state, rewriter);
  return true;
}

void PlainApplier::Insert(const OpPlan& plan, Operation root, const ir::RawOperationState& state,
                          ir::Rewriter& rewriter) {
  match_.created.push_back(rewriter.CreateBefore(root, state));
  match_.results[plan.result] = match_.created.back().id();
}

bool PlainApplier::ReplaceRoot(Operation root, ir::Rewriter& rewriter, std::string* reason) {
  const OpPlan& plan = plans_.back();
  ir::RawOperationState state;
  if (!Prepare(plans_.back(), &state, reason)) return false;
  if (state.type.id() != match_.view->type(root.id())) {
    const Type old_type = root.result().type();
    if (!ir::Compatible(state.type, old_type)) return FailTypes(old_type, state.type, reason);
    if (!(ir::Merge(graph_.context(), state.type, old_type) == state.type)) {
      // What the old type knows beyond the new one moves on to the operands.
      Insert(plan, root, state, rewriter);
      return ReplaceUses(root, rewriter, reason);
    }
  }
  const bool all = FindErased();
  rewriter.ReplaceInPlace(root, match_.erased, state);
  if (!all) EraseMatched(rewriter);
  return true;
}

bool PlainApplier::ReplaceUses(Operation root, ir::Rewriter& rewriter, std::string* reason) {
  const Value from = match_.view->ValueAt(match_.values[replaced_]),
              to = match_.view->ValueAt(NumberOf(with_));
  const bool is_new = with_.kind == ResultOperand::kResult;
  if (!(to.type() == from.type()) && !ir::MeetTypes(from, to))
    return FailTypes(from.type(), to.type(), reason);
  if (is_new && match_.view->has_names())
    if (const std::string_view name = from.name(); !name.empty() && to.name().empty())
      rewriter.program()->SetName(to, name);
  rewriter.ReplaceAllUses(from, to);
  // Another result of it may be kept for external uses.
  if (!(match_.flags & ir::internal::kOpHasExtraResults) || root.IsUnused()) rewriter.Erase(root);
  EraseMatched(rewriter);
  return true;
}

bool PlainApplier::FailTypes(Type old_type, Type new_type, std::string* reason) {
  return Fail(reason, fmt::format("the result would be {} in place of {}", new_type.ToString(),
                                  old_type.ToString()));
}

// Finds the matched ops that can be erased with the old root in one step: true when those are all.
// An op that is bound twice, or used as a value that the pattern leaves open, has more uses than
// the pattern says and is left to EraseMatched(); so are those after it, as the order counts.
bool PlainApplier::FindErased() {
  match_.erased.clear();
  uint64_t going = 1;  // places; the root's is the first
  for (const ErasePlan& plan : erase_order_) {
    if (plan.needed || (plan.users & ~going)) continue;
    const uint32_t op = match_.ops[plan.place].op;
    const ir::internal::OpRecord& record = match_.view->record(op);
    if (record.flags != ir::internal::kOpHasResult || record.use_count != plan.uses) {
      if (record.num_operands == 0) continue;  // one like it releases nothing
      break;
    }
    going |= uint64_t{1} << plan.place;
    match_.erased.push_back(op);
  }
  return match_.erased.size() == erase_order_.size();
}

// Erases the matched ops that have no use left, in the order of the general applier.
void PlainApplier::EraseMatched(ir::Rewriter& rewriter) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const ErasePlan& plan : erase_order_) {
      const uint32_t id = match_.ops[plan.place].op;
      // Two ops of the pattern may be one, erased already.
      const ir::internal::OpRecord& record = match_.view->record(id);
      if (record.first_use != kNoId || (record.flags & ir::internal::kOpErased)) continue;
      if (const Operation op = match_.view->OperationAt(id); op.IsUnused()) {
        rewriter.Erase(op);
        changed = true;
      }
    }
  }
}

}  // namespace weft::drr
