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
  if (!graph.outside.empty()) return false;
  return std::all_of(graph.result_ops.begin(), graph.result_ops.end(), [](const ResultOp& op) {
    return op.def && op.results.size() == 1 && op.def->info->num_regions == 0 &&
           op.location_of < 0 && op.location.empty();
  });
}

PlainApplier::PlainApplier(const Rule& rule, const PlainMatcher& matcher, const PlainMatch& match)
    : graph_(rule.graph),
      matcher_(matcher),
      match_(match),
      replaced_(graph_.Resolve(graph_.replacements[0].source)),
      with_(Resolved(graph_.replacements[0].with)),
      results_(graph_.num_result_values) {
  for (int number : graph_.result_order()) {
    OpPlan plan;
    plan.op = &graph_.result_ops[number];
    plan.min_operands = MinOperands(*plan.op->def);
    for (const ResultOperand& operand : plan.op->operands)
      plan.operands.push_back(Resolved(operand));
    plan.computes = plan.op->attrs_of >= 0;
    for (const ResultAttr& attr : plan.op->attrs) plan.computes |= !attr.literal;
    plan.remember = graph_.attrs.size() + (plan.op->attrs_of >= 0) <= kMaxKey;
    plan.remembered.resize(!plan.remember ? 0 : plan.computes ? kRemembered : 1);
    plans_.push_back(std::move(plan));
  }
  in_place_ = with_.kind == ResultOperand::kResult && !plans_.empty() &&
              plans_.back().op->results[0] == with_.id &&
              graph_.ops[matcher.OpAt(0)].results.size() == 1;
  // An op is erased after all that read it in the pattern.
  std::vector<char> placed(matcher.num_ops());
  const auto is_read = [&](int place) {
    for (int reader = 0; reader < matcher.num_ops(); ++reader) {
      if (placed[reader]) continue;
      for (int operand : graph_.ops[matcher.OpAt(reader)].operands)
        if (operand != kAbsent &&
            graph_.values[graph_.Resolve(operand)].producer == matcher.OpAt(place))
          return true;
    }
    return false;
  };
  placed[0] = true;
  while (erase_order_.size() + 1 < placed.size())
    for (int place = 1; place < matcher.num_ops(); ++place)
      if (!placed[place] && !is_read(place)) {
        placed[place] = true;
        erase_order_.push_back(place);
      }
}

bool PlainApplier::Fail(std::string* reason, std::string text) {
  if (reason) *reason = std::move(text);
  return false;
}

ResultOperand PlainApplier::Resolved(ResultOperand operand) const {
  if (operand.kind == ResultOperand::kSource) operand.id = graph_.Resolve(operand.id);
  return operand;
}

bool PlainApplier::Apply(const ir::GraphView& view, MatchContext* context, ir::Rewriter& rewriter,
                         std::string* reason) {
  view_ = &view;
  context_ = context;
  filled_ = false;
  created_.clear();
  const Operation root = view.OperationAt(match_.ops[0].op);
  const bool in_place = in_place_ && !(view.record(root.id()).flags & ~ir::internal::kOpHasResult);
  const size_t num_built = plans_.size() - in_place;
  bool done = true;
  for (size_t i = 0; done && i < num_built; ++i) done = Build(plans_[i], root, rewriter, reason);
  if (done)
    done = in_place ? ReplaceRoot(root, rewriter, reason) : ReplaceUses(root, rewriter, reason);
  if (done) {
    EraseMatched(rewriter);
    return true;
  }
  for (auto it = created_.rbegin(); it != created_.rend(); ++it) rewriter.Erase(*it);
  return false;
}

bool PlainApplier::Attributes(OpPlan& plan, ir::AttrDict* dict, std::string* reason) {
  bool pure = false;
  if (!plan.remember) return ComputeAttributes(*plan.op, dict, &pure, reason);
  std::array<uint32_t, kMaxKey> key{};
  uint64_t hash = 0;
  if (!plan.computes && plan.remembered[0].valid) {
    *dict = plan.remembered[0].dict;
    return true;
  }
  if (plan.computes) {
    size_t n = 0;
    for (; n < graph_.attrs.size(); ++n) key[n] = match_.attrs[n].id();
    if (plan.op->attrs_of >= 0)
      key[n++] = match_.ops[matcher_.PlaceOf(plan.op->attrs_of)].record->attrs;
    for (size_t i = 0; i < n; ++i) hash = (hash ^ key[i]) * 0x9e3779b97f4a7c15u;
  }
  RememberedAttrs& slot = plan.remembered[(hash >> 32) & (plan.remembered.size() - 1)];
  if (slot.valid && slot.key == key) {
    *dict = slot.dict;
    return true;
  }
  if (!ComputeAttributes(*plan.op, dict, &pure, reason)) return false;
  if (pure) slot = {key, *dict, true};
  return true;
}

bool PlainApplier::ComputeAttributes(const ResultOp& op, ir::AttrDict* dict, bool* pure,
                                     std::string* reason) {
  if (!filled_) matcher_.Fill(context_);
  filled_ = true;
  std::string why;
  return ResultAttributes(op, *context_, dict, &why, pure) || Fail(reason, std::move(why));
}

bool PlainApplier::InferType(OpPlan& plan, ir::AttrDict attrs, Type* type, std::string* reason) {
  ir::IrContext* context = graph_.context();
  const ir::Opcode opcode = plan.op->def->opcode;
  if (operands_.size() <= ir::InferenceCache::kMaxOperands) {
    ir::InferenceCache::Entry question;
    question.opcode = opcode.id();
    question.num_operands = static_cast<uint8_t>(operands_.size());
    question.num_results = 1;
    question.attrs = attrs.id();
    for (size_t i = 0; i < operands_.size(); ++i)
      question.operand_types[i] = operands_[i] == kNoId ? kNoId : view_->type(operands_[i]);
    if (!plan.last.SameQuestion(question)) {
      const ir::InferenceCache::Entry& answer = context->inference_cache().Slot(question);
      if (answer.SameQuestion(question)) plan.last = answer;
    }
    if (plan.last.SameQuestion(question) && plan.last.result_types[0] != 0) {
      *type = context->TypeFromId(plan.last.result_types[0]);
      return true;
    }
  }
  std::vector<Value> operands;
  for (uint32_t operand : operands_)
    operands.push_back(operand == kNoId ? Value() : view_->ValueAt(operand));
  std::string error;
  if (!ir::InferResultTypes(context, opcode, operands, attrs, {type, 1}, &error))
    return Fail(reason, std::move(error));
  if (!*type) *type = context->UnrankedTensorType(ir::DataType::kNull);
  return true;
}

bool PlainApplier::Prepare(OpPlan& plan, ir::AttrDict* attrs, Type* type, std::string* reason) {
  operands_.clear();
  for (const ResultOperand& operand : plan.operands) operands_.push_back(NumberOf(operand));
  while (operands_.size() > plan.min_operands && operands_.back() == kNoId) operands_.pop_back();
  return Attributes(plan, attrs, reason) && InferType(plan, *attrs, type, reason);
}

bool PlainApplier::Build(OpPlan& plan, Operation root, ir::Rewriter& rewriter,
                         std::string* reason) {
  ir::AttrDict attrs;
  Type type;
  if (!Prepare(plan, &attrs, &type, reason)) return false;
  created_.push_back(rewriter.CreateBefore(root, plan.op->def->opcode, operands_, attrs, type));
  results_[plan.op->results[0]] = created_.back().id();
  return true;
}

bool PlainApplier::ReplaceRoot(Operation root, ir::Rewriter& rewriter, std::string* reason) {
  OpPlan& plan = plans_.back();
  ir::AttrDict attrs;
  Type type;
  if (!Prepare(plan, &attrs, &type, reason)) return false;
  if (type.id() != view_->type(root.id()) && !Reconcile(root.result().type(), &type, reason))
    return false;
  rewriter.ReplaceInPlace(root, plan.op->def->opcode, operands_, attrs, type);
  return true;
}

bool PlainApplier::ReplaceUses(Operation root, ir::Rewriter& rewriter, std::string* reason) {
  const Value from = view_->ValueAt(match_.values[replaced_]), to = view_->ValueAt(NumberOf(with_));
  const bool is_new = with_.kind == ResultOperand::kResult;
  if (Type type = to.type(); !(type == from.type())) {
    if (!Reconcile(from.type(), &type, reason)) return false;
    if (is_new) rewriter.SetType(to, type);
  }
  if (is_new && view_->has_names())
    if (const std::string_view name = from.name(); !name.empty() && to.name().empty())
      rewriter.program()->SetName(to, name);
  rewriter.ReplaceAllUses(from, to);
  rewriter.Erase(root);
  return true;
}

// The replacement must have a type compatible with the root's; it then has what either knows.
bool PlainApplier::Reconcile(Type old_type, Type* new_type, std::string* reason) {
  const bool unknown =
      new_type->IsTensor() && !new_type->HasRank() && new_type->dtype() == ir::DataType::kNull;
  if (!unknown && !ir::Compatible(*new_type, old_type))
    return Fail(reason, fmt::format("the result would be {} in place of {}", new_type->ToString(),
                                    old_type.ToString()));
  *new_type = new_type->HasRank() ? ir::Merge(graph_.context(), *new_type, old_type) : old_type;
  return true;
}

// Those that lost all their readers go.
void PlainApplier::EraseMatched(ir::Rewriter& rewriter) {
  for (int place : erase_order_) {
    const PlainMatch::Op& matched = match_.ops[place];
    // Two ops of the pattern may be one shared constant, erased already.
    const ir::internal::OpRecord& record = *matched.record;
    if (record.first_use != kNoId || (record.flags & ir::internal::kOpErased)) continue;
    if (const Operation op = view_->OperationAt(matched.op); op.IsUnused()) rewriter.Erase(op);
  }
}

}  // namespace weft::drr
