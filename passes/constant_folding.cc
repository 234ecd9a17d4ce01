// constant-folding: evaluates pure ops whose operands are all constants, with the evaluator of the
// run (the runtime's own kernels, so that folding changes no bit). Does not grow the program: an op
// that makes much more data than it reads (Expand, Tile, ConstantOfShape) is held back. What reads
// it is folded where the result is small again, and when all of it is, the op goes as well.
// Random ops, ops for which there is no kernel and ops that fail (integers divided by zero) are
// left alone, and so is DequantizeLinear: with it the program says that a weight is quantised.
#include <algorithm>
#include <unordered_map>

#include "ir/analysis/constant.h"
#include "ir/dialects/builtin.h"
#include "ir/dialects/onnx/quantize.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

constexpr int64_t kAlwaysSmallEnough = 64 << 10;  // bytes
// All held-back results that are computed in a run together, in bytes: each is one that no constant
// will hold, and whether it leads to a small one is not known before.
constexpr int64_t kHeldBackBudget = 64 << 20;

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
    held_back_.clear();
    budget_ = kHeldBackBudget;
    std::vector<ir::Operation> ops;
    ir::Walk(program, [&](ir::Operation op) { ops.push_back(op); });
    ir::Rewriter rewriter(&program);
    for (ir::Operation op : ops)  // operands before readers: one sweep folds whole chains
      if (op.IsAlive()) Fold(op, rewriter);
    return absl::OkStatus();
  }

 private:
  void Fold(ir::Operation op, ir::Rewriter& rewriter) {
    if (!CanFold(op) || !ComputeHeldBackOperands(op)) return;
    if (!SmallEnough(op)) {
      for (ir::Value v : op.results()) held_back_[v.id()] = {};
      return;
    }
    auto results = Evaluate(op);
    if (!results.ok()) return;  // no kernel, or an error that belongs to run time
    Replace(op, *results, rewriter);
    Count("operations folded");
    MarkChanged();
  }

  bool CanFold(ir::Operation op) const {
    if (!op.HasTrait(ir::kPure) || op.HasTrait(ir::kRandom) || op.HasTrait(ir::kConstantLike) ||
        op.num_regions() > 0 || op.num_operands() == 0 || op.num_results() == 0 ||
        op.Is<ir::ops::DequantizeLinear>() || BytesRead(op) < 0)
      return false;
    const auto operands = op.operands();
    return std::all_of(operands.begin(), operands.end(), [&](ir::Value v) {
      return !v || Contents(v) || (!ir::IsConstant(v) && held_back_.count(v.id()) > 0);
    });
  }

  // Those are computed now that somebody wants them. The operands of their ops have been, when that
  // op was visited.
  bool ComputeHeldBackOperands(ir::Operation op) {
    for (ir::Value v : op.operands()) {
      if (!v || Contents(v)) continue;
      const ir::Operation maker = v.DefiningOp();
      if (BytesRead(maker) > budget_) return false;
      budget_ -= BytesRead(maker);
      auto results = Evaluate(maker);
      if (!results.ok()) return false;
      for (uint32_t i = 0; i < results->size(); ++i)
        held_back_[maker.result(i).id()] = (*results)[i];
    }
    return true;
  }

  absl::StatusOr<std::vector<ir::Attribute>> Evaluate(ir::Operation op) {
    std::vector<ir::Attribute> operands;
    for (ir::Value v : op.operands()) operands.push_back(v ? Contents(v) : ir::Attribute());
    return evaluator_->Evaluate(op, operands);
  }

  // Null when they are not known (yet). Constants first: a new one may have the number of a value
  // that was held back and is gone.
  ir::Attribute Contents(ir::Value v) const {
    if (const ir::Attribute dense = ir::ConstantValue(v))
      return dense.IsElided() ? ir::Attribute() : dense;
    const auto held_back = held_back_.find(v.id());
    return held_back == held_back_.end() ? ir::Attribute() : held_back->second;
  }

  static void Replace(ir::Operation op, const std::vector<ir::Attribute>& results,
                      ir::Rewriter& rewriter) {
    rewriter.SetInsertionPoint(op);
    rewriter.set_location(op.location());
    std::vector<ir::Value> values;
    values.reserve(results.size());
    for (const ir::Attribute& dense : results) values.push_back(rewriter.Constant(dense));
    std::vector<ir::Value> inputs = op.operands().vec();
    rewriter.Replace(op, values);
    for (ir::Value v : inputs)
      if (v && v.IsAlive() && v.IsUnused() && v.DefiningOp())
        rewriter.EraseWithDeadOperands(v.DefiningOp());
    for (ir::Value v : values)
      if (v.IsAlive() && v.IsUnused()) rewriter.Erase(v.DefiningOp());
  }

  // Operands that were held back do not count: the program does not contain their data.
  static bool SmallEnough(ir::Operation op) {
    int64_t bytes_in = 0;
    for (ir::Value v : op.operands())
      if (const ir::Attribute dense = v ? ir::ConstantValue(v) : ir::Attribute())
        bytes_in += static_cast<int64_t>(dense.bytes().size());
    return BytesRead(op) <= std::max(kAlwaysSmallEnough, 2 * bytes_in);
  }

  // Of the results that something reads; -1 when one has no known size.
  static int64_t BytesRead(ir::Operation op) {
    int64_t sum = 0;
    for (ir::Value v : op.results()) {
      if (v.IsUnused()) continue;
      const int64_t bytes = v.type().NumBytes();
      if (bytes < 0) return -1;
      sum += bytes;
    }
    return sum;
  }

  ir::Evaluator* evaluator_ = nullptr;
  // Results that are known but too large, by value number; contents once somebody wants them.
  std::unordered_map<uint32_t, ir::Attribute> held_back_;
  int64_t budget_ = 0;
};
WEFT_REGISTER_PASS(ConstantFolding);

}  // namespace
}  // namespace weft::passes
