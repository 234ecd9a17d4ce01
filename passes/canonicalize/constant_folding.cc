// constant-folding: evaluates pure ops whose operands are all constants, with the evaluator of the
// run (the runtime's own kernels, so that folding changes no bit). Does not grow the program, and
// keeps DequantizeLinear: see ir/analysis/fold.h.
#include <vector>

#include "ir/analysis/fold.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

class ConstantFolding : public Pass {
 public:
  ConstantFolding()
      : Pass("constant-folding", "computes what depends on constants only", {.seed = "ai-system"}) {
  }

  absl::Status Initialize(ir::IrContext&, const PassContext& pass_context) override {
    WEFT_ASSIGN_OR_RETURN(evaluator_, EvaluatorOf(pass_context));
    return absl::OkStatus();
  }

  absl::Status Run(ir::Program& program) override {
    if (!evaluator_) return absl::OkStatus();  // the run folds no constants
    std::vector<ir::Operation> ops;
    ir::Walk(program, [&](ir::Operation op) { ops.push_back(op); });
    ir::Rewriter rewriter(&program);
    ir::ConstantFolder folder(evaluator_, ir::kFoldInProgram);
    for (ir::Operation op : ops) {  // operands before users: one sweep folds whole chains
      if (!op.IsAlive() || !folder.Fold(op, rewriter)) continue;
      Count("operations folded");
      MarkChanged();
    }
    return absl::OkStatus();
  }

 private:
  ir::Evaluator* evaluator_ = nullptr;
};
WEFT_REGISTER_PASS(ConstantFolding);

}  // namespace
}  // namespace weft::passes
