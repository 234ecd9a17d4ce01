// inplace: marks every op that may write its result over an operand which nobody reads afterwards.
//
// No pipeline runs it. What is safe depends on shapes, which a session knows better than the model
// it is given (symbols have sizes by then, and what was computed from shapes is folded), so the memory
// plan asks the same analysis itself, and takes marks as a preference among operands. The pass shows
// the result, and states it for other runtimes.
#include "ir/analysis/inplace.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

class Inplace : public Pass {
 public:
  Inplace()
      : Pass("inplace",
             "marks operations that may write over an operand nobody reads later; the last pass",
             {.seed = "paddle"}) {}

  bool KeepsInplaceMarks() const override { return true; }

  absl::Status Run(ir::Program& program) override {
    const ir::InplaceAnalysis analysis(program);
    ir::Rewriter rewriter(&program);
    ir::Walk(program, [&](ir::Operation op) {
      if (op.ParentOp() && op.ParentOp().HasTrait(ir::kBodyInRegion)) return;  // not run one by one
      const ir::Attribute mark = FirstSafe(op, analysis);
      if (mark) Count("operations in place");
      if (mark == ir::InplaceMark(op)) return;
      rewriter.SetAttrs(op, mark ? op.context()->With(op.attrs(), ir::Name(ir::kInplaceAttr), mark)
                                 : op.context()->Without(op.attrs(), ir::Name(ir::kInplaceAttr)));
      MarkChanged();
    });
    return absl::OkStatus();
  }

 private:
  static ir::Attribute FirstSafe(ir::Operation op, const ir::InplaceAnalysis& analysis) {
    for (uint32_t i = 0; i < op.num_operands(); ++i)
      if (analysis.WhyNot(op, i) == nullptr) return ir::MakeInplaceMark(op, i);
    return {};
  }
};
WEFT_REGISTER_PASS(Inplace);

}  // namespace
}  // namespace weft::passes
