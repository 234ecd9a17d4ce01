// constant-folding: evaluates pure ops whose operands are all constants, with the evaluator of the
// run (the runtime's own kernels, so that folding changes no bit). Does not grow the program: an op
// that makes much more data than it reads (Expand, Tile, ConstantOfShape) is left alone. Random ops
// and ops for which there is no kernel are left alone too, and so is DequantizeLinear: with it the
// program says that a weight is quantised.
#include <algorithm>

#include "ir/constant.h"
#include "ir/dialects/builtin.h"
#include "ir/dialects/onnx/quantize.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

constexpr int64_t kAlwaysSmallEnough = 64 << 10;  // bytes

class ConstantFolding : public Pass {
 public:
  ConstantFolding() : Pass("constant-folding", "computes what depends on constants only") {}

  absl::Status Initialize(ir::IrContext&, const PassContext& pass_context) override {
    evaluator_ = pass_context.evaluator;
    return absl::OkStatus();
  }

  absl::Status Run(ir::Program& program) override {
    if (!evaluator_) return absl::OkStatus();
    std::vector<ir::Operation> ops;
    ir::Walk(program, [&](ir::Operation op) { ops.push_back(op); });
    ir::Rewriter rewriter(&program);
    for (ir::Operation op : ops)  // operands before readers: one sweep folds whole chains
      if (op.IsAlive()) Fold(op, rewriter);
    return absl::OkStatus();
  }

 private:
  void Fold(ir::Operation op, ir::Rewriter& rewriter) {
    if (!op.HasTrait(ir::kPure) || op.HasTrait(ir::kRandom) || op.HasTrait(ir::kConstantLike) ||
        op.num_regions() > 0 || op.num_operands() == 0 || op.num_results() == 0 ||
        op.Is<ir::ops::DequantizeLinear>())
      return;
    std::vector<ir::Attribute> operands;
    int64_t bytes_in = 0;
    for (ir::Value v : op.operands()) {
      const ir::Attribute dense = v ? ir::ConstantValue(v) : ir::Attribute();
      if (v && (!dense || dense.IsElided())) return;
      operands.push_back(dense);
      if (dense) bytes_in += static_cast<int64_t>(dense.bytes().size());
    }
    if (!SmallEnough(op, bytes_in)) return;
    auto results = evaluator_->Evaluate(op, operands);
    if (!results.ok()) return;  // no kernel, or an error that belongs to run time
    rewriter.SetInsertionPoint(op);
    rewriter.set_location(op.location());
    std::vector<ir::Value> values;
    for (const ir::Attribute& dense : *results) values.push_back(rewriter.Constant(dense));
    std::vector<ir::Value> inputs = op.operands().vec();
    rewriter.Replace(op, values);
    for (ir::Value v : inputs)
      if (v && v.IsAlive() && v.IsUnused() && v.DefiningOp())
        rewriter.EraseWithDeadOperands(v.DefiningOp());
    for (ir::Value v : values)
      if (v.IsAlive() && v.IsUnused()) rewriter.Erase(v.DefiningOp());
    Count("operations folded");
    MarkChanged();
  }

  static bool SmallEnough(ir::Operation op, int64_t bytes_in) {
    int64_t bytes_out = 0;
    for (ir::Value v : op.results()) {
      if (v.IsUnused()) continue;
      const int64_t bytes = v.type().NumBytes();
      if (bytes < 0) return false;
      bytes_out += bytes;
    }
    return bytes_out <= std::max(kAlwaysSmallEnough, 2 * bytes_in);
  }

  ir::Evaluator* evaluator_ = nullptr;
};
WEFT_REGISTER_PASS(ConstantFolding);

}  // namespace
}  // namespace weft::passes
