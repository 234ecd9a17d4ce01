#include "ir/analysis/fold.h"

#include <algorithm>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/quantize.h"

namespace weft::ir {
namespace {

constexpr int64_t kAlwaysSmallEnough = 64 << 10;  // bytes

// Of the results that something uses; -1 when one has no known size.
int64_t BytesUsed(Operation op) {
  int64_t sum = 0;
  for (Value v : op.results()) {
    if (v.IsUnused()) continue;
    const int64_t bytes = v.type().NumBytes();
    if (bytes < 0) return -1;
    sum += bytes;
  }
  return sum;
}

// Operands that were held back do not count: the program does not contain their data.
bool IsSmallEnough(Operation op) {
  int64_t bytes_in = 0;
  for (Value v : op.operands())
    if (const Attribute dense = ConstantValue(v))
      bytes_in += static_cast<int64_t>(dense.num_bytes());
  return BytesUsed(op) <= std::max(kAlwaysSmallEnough, 2 * bytes_in);
}

void ReplaceByConstants(Operation op, const std::vector<Attribute>& results, Rewriter& rewriter) {
  rewriter.SetInsertionPoint(op);
  rewriter.set_location(op.location());
  std::vector<Value> values;
  values.reserve(results.size());
  for (const Attribute& dense : results) values.push_back(rewriter.Constant(dense));
  const std::vector<Value> operands = op.operands().vec();
  rewriter.Replace(op, values);
  for (Value v : operands) {
    const Operation def = v && v.IsAlive() ? v.DefiningOp() : Operation();
    if (def && def.IsUnused() && def.HasTrait(kPure) && def.num_regions() == 0)
      rewriter.EraseWithDeadOperands(def);
  }
  for (Value v : values)
    if (v.IsAlive() && v.IsUnused()) rewriter.Erase(v.DefiningOp());
}

// Constants are tensors.
bool HasOnlyTensors(Operation op) {
  const auto is_tensor = [](Value v) { return !v || v.type().IsTensor(); };
  const auto operands = op.operands();
  const auto results = op.results();
  return std::all_of(operands.begin(), operands.end(), is_tensor) &&
         std::all_of(results.begin(), results.end(), is_tensor);
}

}  // namespace

bool IsFoldable(Operation op, const FoldOptions& options) {
  return op.HasTrait(kPure) && !op.HasTrait(kRandom) && !op.HasTrait(kConstantLike) &&
         op.num_regions() == 0 && op.num_results() > 0 &&
         (options.nullary || op.num_operands() > 0) &&
         (options.dequantize || !op.Is<ops::DequantizeLinear>()) && HasOnlyTensors(op);
}

bool ConstantFolder::Fold(Operation op, Rewriter& rewriter, bool shapes) {
  if (!CanFold(op, shapes) || !ComputeHeldBackOperands(op, shapes)) return false;
  if (!options_.growth && !IsSmallEnough(op)) {
    for (Value v : op.results()) held_back_[v.id()] = {};
    return false;
  }
  const auto results = Evaluate(op, shapes);
  if (!results.ok()) return false;
  ReplaceByConstants(op, *results, rewriter);
  return true;
}

bool ConstantFolder::CanFold(Operation op, bool shapes) const {
  if (!IsFoldable(op, options_) || (!options_.growth && BytesUsed(op) < 0)) return false;
  const auto operands = op.operands();
  return std::all_of(operands.begin(), operands.end(),
                     [&](Value v) { return !v || Known(op, v, shapes) || IsHeldBack(v); });
}

// Those are computed now that somebody wants them. The operands of their ops have been, when that
// op was visited; some by their shape only.
bool ConstantFolder::ComputeHeldBackOperands(Operation op, bool shapes) {
  for (Value v : op.operands()) {
    if (!v || Known(op, v, shapes)) continue;
    const Operation def = v.DefiningOp();
    if (BytesUsed(def) > budget_) return false;
    budget_ -= BytesUsed(def);
    const auto results = Evaluate(def, true);
    if (!results.ok()) return false;
    for (uint32_t i = 0; i < results->size(); ++i) held_back_[def.result(i).id()] = (*results)[i];
  }
  return true;
}

absl::StatusOr<std::vector<Attribute>> ConstantFolder::Evaluate(Operation op, bool shapes) {
  std::vector<Attribute> operands;
  operands.reserve(op.num_operands());
  for (Value v : op.operands()) operands.push_back(v ? Known(op, v, shapes) : Attribute());
  return evaluator_.Evaluate(op, operands);
}

// Null when they are not known (yet). Constants first: a new one may have the number of a value
// that was held back and is gone.
Attribute ConstantFolder::Known(Operation user, Value v, bool shapes) const {
  if (const Attribute contents = Contents(v)) return contents;
  if (shapes && user.HasTrait(kReadsShapesOnly) && v.type().IsStatic())
    return user.context()->ElidedDenseAttr(v.type(), "");
  const auto held_back = held_back_.find(v.id());
  return held_back == held_back_.end() || IsConstant(v) ? Attribute() : held_back->second;
}

bool ConstantFolder::IsHeldBack(Value v) const {
  return !IsConstant(v) && held_back_.count(v.id()) > 0;
}

}  // namespace weft::ir
