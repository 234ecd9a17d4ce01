// lower-attention: Attention and RotaryEmbedding of ONNX become their reference bodies, from which the
// attention that kernels know is fused: with a mask, a past and heads of any number there are too many
// forms for rules.
#include "ir/dialects/onnx/nn/attention.h"
#include "passes/lower_to_bodies.h"
#include "passes/pass_registry.h"

namespace weft::passes {
namespace {

class LowerAttention : public LowerToBodies {
 public:
  LowerAttention()
      : LowerToBodies("lower-attention", "Attention and RotaryEmbedding become their parts") {}

 private:
  bool Lowers(ir::Operation op) const override {
    return op.Is<ir::ops::Attention>() || op.Is<ir::ops::RotaryEmbedding>();
  }
};
WEFT_REGISTER_PASS(LowerAttention);

}  // namespace
}  // namespace weft::passes
