#include "passes/canonicalize/decided_control.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/control.h"
#include "ir/infer.h"

namespace weft::passes {
namespace {

// The one element of a constant; of others the run complains.
std::optional<double> OneElement(ir::Value value) {
  const auto elements = value ? ir::ConstantDoubles(value, 1) : std::nullopt;
  return elements && elements->size() == 1 ? std::optional(elements->front()) : std::nullopt;
}

bool InlineIf(ir::Operation op, ir::Rewriter& rewriter) {
  const std::optional<double> condition = OneElement(op.operand(0));
  if (!condition) return false;
  const ir::Block branch = op.region(*condition != 0 ? 0 : 1).front();
  const ir::Operation end = branch.Terminator();
  if (!end || end.num_operands() != op.num_results()) return false;
  for (uint32_t i = 0; i < op.num_results(); ++i)
    if (!ir::Compatible(end.operand(i).type(), op.result(i).type())) return false;
  rewriter.Replace(op, rewriter.InlineBlockBefore(branch, op, {}));
  return true;
}

// The type of a scan output without elements; null where a size of theirs is not known.
ir::Type EmptyScanOutput(ir::Value output) {
  const ir::Type type = output.type();
  if (!type.HasRank() || type.rank() == 0) return {};
  ir::Shape dims = type.shape();
  if (ir::IsStaticDim(dims[0]) && dims[0] != 0) return {};
  dims[0] = 0;
  const ir::Type empty = output.program()->context()->TensorType(type.dtype(), dims);
  return empty.IsStatic() && empty.NumBytes() == 0 ? empty : ir::Type();
}

bool IsNeverRun(ir::Operation loop) {
  const auto operand = [&](uint32_t i) {
    return i < loop.num_operands() ? OneElement(loop.operand(i)) : std::nullopt;
  };
  const std::optional<double> trips = operand(0), condition = operand(1);
  return (trips && *trips <= 0) || (condition && *condition == 0);
}

bool DropLoop(ir::Operation op, ir::Rewriter& rewriter) {
  if (!IsNeverRun(op)) return false;
  constexpr uint32_t kFirst = ir::ops::Loop::kFirstCarried;
  const uint32_t carried = std::max(op.num_operands(), kFirst) - kFirst;
  std::vector<ir::Type> empty;
  for (uint32_t i = 0; i < op.num_results(); ++i) {
    const ir::Value result = op.result(i);
    if (i < carried) {
      const ir::Value initial = op.operand(kFirst + i);
      if (!initial || !ir::Compatible(initial.type(), result.type())) return false;
    } else if (empty.push_back(EmptyScanOutput(result)); !empty.back()) {
      return false;
    }
  }
  rewriter.SetInsertionPoint(op);
  rewriter.set_location(op.location());
  std::vector<ir::Value> values;
  for (uint32_t i = 0; i < op.num_results(); ++i)
    values.push_back(i < carried
                         ? op.operand(kFirst + i)
                         : rewriter.Constant(op.context()->DenseAttr(empty[i - carried], {})));
  rewriter.set_location({});
  rewriter.Replace(op, values);
  return true;
}

}  // namespace

uint32_t NumDecidingOperands(ir::Operation op) {
  if (op.Is<ir::ops::If>()) return 1;
  return op.Is<ir::ops::Loop>() ? std::min(op.num_operands(), ir::ops::Loop::kFirstCarried) : 0;
}

bool InlineDecidedControl(ir::Operation op, ir::Rewriter& rewriter) {
  if (NumDecidingOperands(op) == 0) return false;
  const std::vector<ir::Value> operands = op.operands().vec();
  if (op.Is<ir::ops::If>() ? !InlineIf(op, rewriter) : !DropLoop(op, rewriter)) return false;
  for (const ir::Value v : operands) {  // what decided, where it decides nothing else
    const ir::Operation def = v && v.IsAlive() ? v.DefiningOp() : ir::Operation();
    if (def && def.IsUnused() && def.HasTrait(ir::kPure) && def.num_regions() == 0)
      rewriter.EraseWithDeadOperands(def);
  }
  return true;
}

}  // namespace weft::passes
