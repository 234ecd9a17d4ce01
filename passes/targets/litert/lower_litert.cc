// lower-litert: every op of the litert dialect becomes its reference body in onnx ops, which all
// runtimes and all rules on onnx know. Ops whose body needs more than is known of their operands
// stay.
//
// A pass and not rules: an Unpack has any number of results, and the bodies are there for the
// kernels already.
#include <vector>

#include "ir/dialects/litert.h"
#include "ir/rewriter.h"
#include "ir/walk.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

class LowerLitert : public Pass {
 public:
  LowerLitert()
      : Pass("lower-litert", "ops of the litert dialect become onnx ops",
             {.numerics = drr::NumericClass::kReassociates}) {}

  absl::Status Run(ir::Program& program) override {
    std::vector<ir::Operation> found;
    ir::Walk(program, [&](ir::Operation op) {
      if (op.def() && op.name().starts_with("litert.")) found.push_back(op);
    });
    ir::Rewriter rewriter(&program);
    for (const ir::Operation op : found) Lower(rewriter, op);
    return absl::OkStatus();
  }

 private:
  void Lower(ir::Rewriter& rewriter, ir::Operation op) {
    rewriter.SetInsertionPoint(op);
    rewriter.set_location(op.location());
    const auto body =
        op.def()->decompose(rewriter, op.operands().vec(), op.attrs(), op.num_results());
    if (body.size() != op.num_results()) return;
    rewriter.Replace(op, body);
    Count("ops lowered");
    MarkChanged();
  }
};
WEFT_REGISTER_PASS(LowerLitert);

}  // namespace
}  // namespace weft::passes
