// lower-fused: fused ops that ONNX Runtime has no operator for become what they are defined by, of
// which it may have operators again: a product that is scaled, for one.
#include "passes/lower_to_bodies.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

class LowerFused : public LowerToBodies {
 public:
  LowerFused() : LowerToBodies("lower-fused", "fused ops become onnx ops") {}

 private:
  bool Lowers(ir::Operation op) const override { return op.name().starts_with("fused."); }
};
WEFT_REGISTER_PASS(LowerFused);

}  // namespace
}  // namespace weft::passes
