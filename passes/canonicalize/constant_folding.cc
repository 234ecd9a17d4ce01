// constant-folding: evaluates pure ops whose operands are all constants, with the evaluator of the
// run (the runtime's own kernels, so that folding changes no bit). Does not grow the program, and
// keeps DequantizeLinear: see ir/analysis/fold.h. An If whose condition is constant becomes the branch
// taken; a Loop of no step its initial values. What a condition follows from is folded where it only
// needs static shapes, so that the branch that is taken has all passes of a pipeline before it.
#include <set>
#include <vector>

#include "ir/analysis/fold.h"
#include "ir/analysis/shape_inference.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "passes/control_flow/decided_control.h"
#include "passes/pass_registry.h"
#include "passes/rewrite_trace.h"

namespace weft::passes {
namespace {

// The numbers of all that the operands which decide the control flow of `ops` follow from.
std::set<uint32_t> WhatDecides(const std::vector<ir::Operation>& ops) {
  std::set<uint32_t> found;
  std::vector<ir::Value> work;
  for (ir::Operation op : ops)
    for (uint32_t i = 0, n = NumDecidingOperands(op); i < n; ++i) work.push_back(op.operand(i));
  while (!work.empty()) {
    const ir::Value v = work.back();
    work.pop_back();
    if (!v || v.IsBlockArgument() || !found.insert(v.DefiningOp().id()).second) continue;
    for (ir::Value operand : v.DefiningOp().operands()) work.push_back(operand);
  }
  return found;
}

class ConstantFolding : public Pass {
 public:
  ConstantFolding()
      : Pass("constant-folding", "computes what depends on constants only, branches taken included",
             {.seed = "ai-system"}) {}

  absl::Status Initialize(ir::IrContext&, const PassContext& pass_context) override {
    WEFT_ASSIGN_OR_RETURN(evaluator_, EvaluatorOf(pass_context));
    trace_ = pass_context.trace;
    return absl::OkStatus();
  }

  absl::Status Run(ir::Program& program) override {
    if (!evaluator_) return absl::OkStatus();  // the run folds no constants
    std::vector<ir::Operation> ops;
    ir::Walk(program, [&](ir::Operation op) { ops.push_back(op); });
    TracedRewriter rewriter(program, trace_);
    ir::ConstantFolder folder(evaluator_, ir::kFoldInProgram);
    const std::set<uint32_t> deciding = WhatDecides(ops);
    bool decided = false;
    for (ir::Operation op : ops) {  // operands before users: one sweep folds whole chains
      if (!op.IsAlive()) continue;
      if (rewriter.AtLimit()) break;
      rewriter.Begin("fold", op);
      if (InlineDecidedControl(op, rewriter)) {
        decided = true;
        Count("branches and loops decided");
      } else if (folder.Fold(op, rewriter, deciding.contains(op.id()))) {
        Count("operations folded");
      } else {
        continue;
      }
      rewriter.Commit();
      MarkChanged();
    }
    // What is read now may be better known than what the two branches have in common. Where that does
    // not fit, the error belongs to run time, and types stay what they are.
    if (decided && ir::PropagateTypes(*program.Clone()).ok())
      ir::PropagateTypes(program).IgnoreError();
    return absl::OkStatus();
  }

 private:
  ir::Evaluator* evaluator_ = nullptr;
  RewriteTrace* trace_ = nullptr;
};
WEFT_REGISTER_PASS(ConstantFolding);

}  // namespace
}  // namespace weft::passes
