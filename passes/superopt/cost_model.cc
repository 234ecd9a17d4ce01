#include "passes/superopt/cost_model.h"

#include <algorithm>
#include <unordered_set>

#include "ir/analysis/constant.h"
#include "ir/dialects/onnx/conv.h"
#include "ir/dialects/onnx/elementwise.h"
#include "ir/dialects/onnx/matmul.h"
#include "ir/dialects/onnx/quantize.h"
#include "ir/dialects/onnx/shape.h"
#include "ir/walk.h"

namespace weft::passes {
namespace {

namespace ops = ir::ops;

// One core of a common machine, to order of magnitude.
constexpr double kFlopsPerSecond = 50e9, kBytesPerSecond = 10e9, kSecondsPerOp = 1e-6;

double Elements(ir::Value value) { return static_cast<double>(value.type().NumElements()); }

// Operand `i` where inference has seen to it that there is one.
double Flops(ir::Operation op) {
  const double result = op.num_results() > 0 ? Elements(op.result(0)) : 0;
  if (op.Is<ops::MatMul>()) return 2 * result * static_cast<double>(op.operand(0).type().dim(-1));
  if (op.Is<ops::Gemm>()) {
    const bool transposed = op.attrs_of<ops::Gemm>().transA != 0;
    return 2 * result * static_cast<double>(op.operand(0).type().dim(transposed ? 0 : 1));
  }
  if (op.Is<ops::Conv>()) {
    const double filters = static_cast<double>(op.operand(1).type().dim(0));
    return 2 * result * Elements(op.operand(1)) / std::max(filters, 1.0);
  }
  return result;
}

// Only the shape changes: kernels run these in place.
bool IsView(ir::Operation op) {
  return op.Is<ops::Reshape>() || op.Is<ops::Identity>() || op.Is<ops::Flatten>() ||
         op.Is<ops::Squeeze>() || op.Is<ops::Unsqueeze>();
}

double Bytes(ir::Operation op) {
  double bytes = 0;
  for (const ir::Value v : op.operands())
    if (v) bytes += static_cast<double>(v.type().NumBytes());
  for (const ir::Value v : op.results()) bytes += static_cast<double>(v.type().NumBytes());
  return bytes;
}

bool IsFolded(ir::Operation op, const std::unordered_set<uint32_t>& folded) {
  if (!op.HasTrait(ir::kPure) || op.HasTrait(ir::kRandom) || op.num_regions() > 0 ||
      op.num_operands() == 0 || op.Is<ops::DequantizeLinear>())
    return false;
  for (const ir::Value v : op.operands())
    if (v && !ir::IsConstant(v) && !folded.contains(v.id())) return false;
  return true;
}

}  // namespace

absl::StatusOr<double> AnalyticCostModel::Seconds(ir::Operation op) {
  if (IsView(op)) return 0;
  return kSecondsPerOp + Flops(op) / kFlopsPerSecond + Bytes(op) / kBytesPerSecond;
}

absl::StatusOr<double> ProgramCost(ir::Program& program, CostModel& model, bool folds) {
  std::unordered_set<uint32_t> folded;  // values
  absl::Status status;
  double cost = 0;
  ir::Walk(program, [&](ir::Operation op) {
    if (!status.ok() || op.HasTrait(ir::kTerminator) || op.HasTrait(ir::kConstantLike) ||
        op.num_regions() > 0)
      return;
    if (folds && IsFolded(op, folded)) {
      for (const ir::Value v : op.results()) folded.insert(v.id());
      return;
    }
    const absl::StatusOr<double> seconds = model.Seconds(op);
    if (seconds.ok()) {
      cost += *seconds;
    } else {
      status = seconds.status();
    }
  });
  if (!status.ok()) return status;
  return cost;
}

}  // namespace weft::passes
