// lower-litert: every op of the litert dialect becomes its reference body in onnx ops, which all
// runtimes and all rules on onnx know.
#include "passes/lower_to_bodies.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

class LowerLitert : public LowerToBodies {
 public:
  LowerLitert() : LowerToBodies("lower-litert", "ops of the litert dialect become onnx ops") {}

 private:
  bool Lowers(ir::Operation op) const override { return op.name().starts_with("litert."); }
};
WEFT_REGISTER_PASS(LowerLitert);

}  // namespace
}  // namespace weft::passes
