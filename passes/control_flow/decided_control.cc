#include "passes/control_flow/decided_control.h"

#include <algorithm>
#include <optional>
#include <unordered_set>
#include <vector>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/control.h"
#include "ir/infer.h"

namespace weft::passes {
namespace {

// Whether `reader`, which reads results of `op`, fits those values in their place. A branch may hold
// what no value fits, where it is never taken together with the one that the value is from.
bool Fits(ir::Operation reader, ir::Operation op, const std::vector<ir::Value>& values) {
  std::vector<ir::Value> operands = reader.operands().vec();
  for (ir::Value& operand : operands)
    if (operand && operand.DefiningOp() == op) operand = values[operand.index()];
  std::vector<ir::Type> types(reader.num_results());
  std::string error;
  if (!ir::InferResultTypes(reader.context(), reader.opcode(), operands, reader.attrs(), types,
                            &error))
    return false;
  for (uint32_t i = 0; i < types.size(); ++i)
    if (!ir::Compatible(reader.result(i).type(), types[i])) return false;
  return true;
}

bool InlineIf(ir::Operation op, ir::Rewriter& rewriter) {
  const std::optional<double> condition = ConstantNumber(op.operand(0));
  if (!condition) return false;
  const ir::Block branch = op.region(*condition != 0 ? 0 : 1).front();
  const ir::Operation end = branch.Terminator();
  if (!end || end.num_operands() != op.num_results()) return false;
  if (!FitsAllReaders(op, end.operands().vec())) return false;
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
    return i < loop.num_operands() ? ConstantNumber(loop.operand(i)) : std::nullopt;
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
    if (i < carried) {
      if (!op.operand(kFirst + i)) return false;
    } else if (empty.push_back(EmptyScanOutput(op.result(i))); !empty.back()) {
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
  if (FitsAllReaders(op, values)) {
    rewriter.Replace(op, values);
    return true;
  }
  for (uint32_t i = carried; i < op.num_results(); ++i) rewriter.Erase(values[i].DefiningOp());
  return false;
}

}  // namespace

std::optional<double> ConstantNumber(ir::Value value) {
  const auto elements = value ? ir::ConstantDoubles(value, 1) : std::nullopt;
  return elements && elements->size() == 1 ? std::optional(elements->front()) : std::nullopt;
}

bool FitsAllReaders(ir::Operation op, const std::vector<ir::Value>& values) {
  std::unordered_set<uint32_t> seen;
  for (uint32_t i = 0; i < op.num_results(); ++i) {
    if (!ir::Compatible(values[i].type(), op.result(i).type())) return false;
    for (const ir::OpOperand use : op.result(i).uses())
      if (seen.insert(use.owner().id()).second && !Fits(use.owner(), op, values)) return false;
  }
  return true;
}

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
