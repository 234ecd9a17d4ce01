#include "drr/plain_applier.h"

#include <fmt/format.h>

#include <algorithm>

#include "drr/result_attributes.h"
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
  return std::all_of(graph.result_ops.begin(), graph.result_ops.end(), [](const ResultOp& op) {
    return op.def && op.results.size() == 1 && op.def->info->num_regions == 0;
  });
}

PlainApplier::PlainApplier(const Rule& rule, const PlainMatcher& match)
    : graph_(rule.graph), match_(match), results_(graph_.num_result_values) {
  for (int number : graph_.result_order()) {
    OpPlan plan;
    plan.op = &graph_.result_ops[number];
    plan.min_operands = MinOperands(*plan.op->def);
    plan.computes = plan.op->attrs_of >= 0;
    for (const ResultAttr& attr : plan.op->attrs) plan.computes |= !attr.literal;
    plan.remember = graph_.attrs.size() + (plan.op->attrs_of >= 0) <= kMaxKey;
    plan.remembered.resize(!plan.remember ? 0 : plan.computes ? kRemembered : 1);
    plans_.push_back(std::move(plan));
  }
  // An op is erased after all that read it in the pattern.
  std::vector<char> placed(graph_.ops.size());
  const auto is_read = [&](int op) {
    for (size_t reader = 0; reader < graph_.ops.size(); ++reader) {
      if (placed[reader]) continue;
      for (int operand : graph_.ops[reader].operands)
        if (operand != kAbsent && graph_.values[graph_.Resolve(operand)].producer == op)
          return true;
    }
    return false;
  };
  while (erase_order_.size() < match.order().size())
    for (int op : match.order())
      if (!placed[op] && !is_read(op)) {
        placed[op] = true;
        erase_order_.push_back(op);
      }
}

bool PlainApplier::Fail(std::string* reason, std::string text) {
  if (reason) *reason = std::move(text);
  return false;
}

uint32_t PlainApplier::NumberOf(const ResultOperand& operand) const {
  switch (operand.kind) {
    case ResultOperand::kSource:
      return match_.value(graph_.Resolve(operand.id));
    case ResultOperand::kResult:
      return results_[operand.id];
    case ResultOperand::kNone:
      break;
  }
  return kNoId;
}

bool PlainApplier::Apply(const ir::GraphView& view, MatchContext* context, ir::Rewriter& rewriter,
                         std::string* reason) {
  view_ = &view;
  context_ = context;
  filled_ = false;
  created_.clear();
  const Operation root = view.OperationAt(match_.op(match_.root_op()));
  bool done = true;
  for (OpPlan& plan : plans_)
    if (!(done = Build(plan, root, rewriter, reason))) break;
  if (done && Commit(root, rewriter, reason)) return true;
  for (auto it = created_.rbegin(); it != created_.rend(); ++it) rewriter.Erase(*it);
  return false;
}

bool PlainApplier::Attributes(OpPlan& plan, ir::AttrDict* dict, std::string* reason) {
  if (!plan.remember) return ComputeAttributes(*plan.op, dict, reason);
  std::array<uint32_t, kMaxKey> key{};
  uint64_t hash = 0;
  if (plan.computes) {
    size_t n = 0;
    for (; n < graph_.attrs.size(); ++n) key[n] = match_.attr(static_cast<int>(n)).id();
    if (plan.op->attrs_of >= 0) key[n++] = view_->attrs(match_.op(plan.op->attrs_of));
    for (size_t i = 0; i < n; ++i) hash = (hash ^ key[i]) * 0x9e3779b97f4a7c15u;
  }
  RememberedAttrs& slot = plan.remembered[(hash >> 32) & (plan.remembered.size() - 1)];
  if (slot.valid && slot.key == key) {
    *dict = slot.dict;
    return true;
  }
  context_->ForgetReads();
  if (!ComputeAttributes(*plan.op, dict, reason)) return false;
  if (plan.op->attrs_of >= 0 || !context_->ReadMoreThanAttrs()) slot = {key, *dict, true};
  return true;
}

bool PlainApplier::ComputeAttributes(const ResultOp& op, ir::AttrDict* dict, std::string* reason) {
  if (!filled_) match_.Fill(context_);
  filled_ = true;
  std::string why;
  return ResultAttributes(op, *context_, dict, &why) || Fail(reason, std::move(why));
}

bool PlainApplier::InferType(const ResultOp& op, ir::AttrDict attrs, Type* type,
                             std::string* reason) {
  ir::IrContext* context = graph_.context();
  if (operands_.size() <= ir::InferenceCache::kMaxOperands) {
    ir::InferenceCache::Entry question;
    question.opcode = op.def->opcode.id();
    question.num_operands = static_cast<uint8_t>(operands_.size());
    question.num_results = 1;
    question.attrs = attrs.id();
    for (size_t i = 0; i < operands_.size(); ++i)
      question.operand_types[i] = operands_[i] == kNoId ? kNoId : view_->type(operands_[i]);
    const ir::InferenceCache::Entry& answer = context->inference_cache().Slot(question);
    if (answer.SameQuestion(question)) {
      *type = context->TypeFromId(answer.result_types[0]);
      if (*type) return true;
    }
  }
  std::vector<Value> operands;
  for (uint32_t operand : operands_)
    operands.push_back(operand == kNoId ? Value() : view_->ValueAt(operand));
  std::string error;
  if (!ir::InferResultTypes(context, op.def->opcode, operands, attrs, {type, 1}, &error))
    return Fail(reason, std::move(error));
  if (!*type) *type = context->UnrankedTensorType(ir::DataType::kNull);
  return true;
}

bool PlainApplier::Build(OpPlan& plan, Operation root, ir::Rewriter& rewriter,
                         std::string* reason) {
  const ResultOp& op = *plan.op;
  operands_.clear();
  for (const ResultOperand& operand : op.operands) operands_.push_back(NumberOf(operand));
  while (operands_.size() > plan.min_operands && operands_.back() == kNoId) operands_.pop_back();
  ir::AttrDict attrs;
  Type type;
  if (!Attributes(plan, &attrs, reason) || !InferType(op, attrs, &type, reason)) return false;
  created_.push_back(rewriter.CreateBefore(root, op.def->opcode, operands_, attrs, type));
  results_[op.results[0]] = created_.back().id();
  return true;
}

// The replacement must have a type compatible with the root's; it then has what either knows.
bool PlainApplier::Commit(Operation root, ir::Rewriter& rewriter, std::string* reason) {
  const Replacement& replacement = graph_.replacements[0];
  const Value from = view_->ValueAt(match_.value(graph_.Resolve(replacement.source)));
  const Value to = view_->ValueAt(NumberOf(replacement.with));
  const bool is_new = replacement.with.kind == ResultOperand::kResult;
  if (const Type new_type = to.type(), old_type = from.type(); !(new_type == old_type)) {
    const bool unknown =
        new_type.IsTensor() && !new_type.HasRank() && new_type.dtype() == ir::DataType::kNull;
    if (!unknown && !ir::Compatible(new_type, old_type))
      return Fail(reason, fmt::format("the result would be {} in place of {}", new_type.ToString(),
                                      old_type.ToString()));
    if (is_new)
      rewriter.SetType(to, new_type.HasRank()
                               ? ir::Merge(rewriter.context(), new_type, old_type)
                               : old_type);
  }
  if (is_new)
    if (const std::string_view name = from.name(); !name.empty() && to.name().empty())
      rewriter.program()->SetName(to, name);
  rewriter.ReplaceAllUses(from, to);
  rewriter.Erase(root);
  for (size_t i = 1; i < erase_order_.size(); ++i) {
    const uint32_t op = match_.op(erase_order_[i]);
    // Two ops of the pattern may be one shared constant, erased already.
    if (view_->IsErased(op)) continue;
    if (const Operation matched = view_->OperationAt(op); matched.IsUnused())
      rewriter.Erase(matched);
  }
  return true;
}

}  // namespace weft::drr
