// dead-code-elimination: removes pure ops without users (chains of them in one go) and parameters
// that no builtin.get_parameter names any more and that are no default of an input.
#include <set>

#include "ir/dialects/builtin.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

class DeadCodeElimination : public Pass {
 public:
  DeadCodeElimination()
      : Pass("dead-code-elimination", "removes what nothing reads, parameters included",
             {.seed = "paddle"}) {}

  absl::Status Run(ir::Program& program) override {
    std::vector<ir::Operation> ops;
    ir::Walk(program, [&](ir::Operation op) { ops.push_back(op); });
    ir::Rewriter rewriter(&program);
    std::vector<ir::Operation> work;
    while (!ops.empty()) {  // users first; then defining ops that lost their last use
      work.push_back(ops.back());
      ops.pop_back();
      while (!work.empty()) {
        const ir::Operation op = work.back();
        work.pop_back();
        if (!op.IsAlive() || !IsDead(op)) continue;
        for (ir::Value v : op.operands())
          if (v && !v.IsBlockArgument()) work.push_back(v.DefiningOp());
        rewriter.Erase(op);
        Count("operations removed");
        MarkChanged();
      }
    }
    DropParameters(program);
    return absl::OkStatus();
  }

 private:
  // An op with regions is dead only when everything in them is pure.
  static bool IsDead(ir::Operation op) {
    if (!op.HasTrait(ir::kPure) || op.num_results() == 0 || !op.IsUnused()) return false;
    bool pure = true;
    for (uint32_t i = 0; i < op.num_regions(); ++i)
      ir::Walk(op.region(i), [&](ir::Operation inner) {
        pure &= inner.HasTrait(ir::kPure) || inner.HasTrait(ir::kTerminator);
      });
    return pure;
  }

  void DropParameters(ir::Program& program) {
    if (program.ParameterNames().empty()) return;
    const ir::Strings defaults =
        program.module().attrs_of<ir::ModuleOp>().default_inputs.value_or(ir::Strings());
    std::set<std::string> used(defaults.begin(), defaults.end());
    ir::Walk(program, [&](ir::Operation op) {
      if (op.Is<ir::GetParameterOp>())
        used.insert(op.attrs_of<ir::GetParameterOp>().parameter_name);
    });
    for (const std::string& name : program.ParameterNames()) {
      if (used.count(name)) continue;
      program.EraseParameter(name);
      Count("parameters removed");
      MarkChanged();
    }
  }
};
WEFT_REGISTER_PASS(DeadCodeElimination);

}  // namespace
}  // namespace weft::passes
