#include "passes/superopt/cost_model.h"

#include <unordered_set>

#include "ir/analysis/constant.h"
#include "ir/analysis/fold.h"
#include "ir/walk.h"

namespace weft::passes {
namespace {

// One core of a common machine, to order of magnitude.
constexpr double kFlopsPerSecond = 50e9, kBytesPerSecond = 10e9, kSecondsPerOp = 1e-6;

double Flops(ir::Operation op) {
  if (op.num_results() == 0) return 0;
  if (op.def() && op.def()->flops) return op.def()->flops(op);
  return static_cast<double>(op.result(0).type().NumElements());
}

double Bytes(ir::Operation op) {
  double bytes = 0;
  for (const ir::Value v : op.operands())
    if (v) bytes += static_cast<double>(v.type().NumBytes());
  for (const ir::Value v : op.results()) bytes += static_cast<double>(v.type().NumBytes());
  return bytes;
}

bool IsFolded(ir::Operation op, const std::unordered_set<uint32_t>& folded) {
  if (!ir::IsFoldable(op, ir::kFoldInProgram)) return false;
  for (const ir::Value v : op.operands())
    if (v && !ir::IsConstant(v) && !folded.contains(v.id())) return false;
  return true;
}

}  // namespace

absl::StatusOr<double> AnalyticCostModel::Seconds(ir::Operation op) {
  if (op.HasTrait(ir::kView)) return 0;  // kernels run these in place
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
