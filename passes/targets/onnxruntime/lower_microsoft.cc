// lower-microsoft: the operators that ONNX Runtime adds become their reference bodies in onnx ops, which
// fusion rules and kernels know. MatMulNBits stays: its body, folded, makes weights eight times as large.
#include "ir/dialects/microsoft.h"
#include "passes/lower_to_bodies.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

class LowerMicrosoft : public LowerToBodies {
 public:
  LowerMicrosoft()
      : LowerToBodies("lower-microsoft", "operators of ONNX Runtime become onnx ops") {}

 private:
  bool Lowers(ir::Operation op) const override {
    if (op.Is<ir::microsoft::SimplifiedLayerNormalization>()) return true;
    return op.name().starts_with("com.microsoft.") && !op.Is<ir::microsoft::MatMulNBits>();
  }
};
WEFT_REGISTER_PASS(LowerMicrosoft);

}  // namespace
}  // namespace weft::passes
