// The least an MLIR user includes for one rewrite pattern, for benchmarks/compile_time.sh: the rule of
// benchmarks/compile_time/one_rule.cc, on operations by name so that no dialect is included.
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace {
struct ComposeTransposes : public RewritePattern {
  explicit ComposeTransposes(MLIRContext *ctx) : RewritePattern("bench.transpose", 1, ctx) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rw) const override {
    Operation *inner = op->getOperand(0).getDefiningOp();
    if (!inner || inner->getName() != op->getName())
      return failure();
    auto p = inner->getAttrOfType<DenseI64ArrayAttr>("perm");
    auto q = op->getAttrOfType<DenseI64ArrayAttr>("perm");
    if (!p || !q)
      return failure();
    SmallVector<int64_t> perm;
    for (int64_t axis : q.asArrayRef())
      perm.push_back(p[axis]);
    OperationState state(op->getLoc(), op->getName(), inner->getOperands(), op->getResultTypes());
    state.addAttribute("perm", rw.getDenseI64ArrayAttr(perm));
    rw.replaceOp(op, rw.create(state)->getResults());
    return success();
  }
};
} // namespace

void addRule(RewritePatternSet &set) { set.add<ComposeTransposes>(set.getContext()); }
