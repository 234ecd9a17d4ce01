#include "ir/dialects/pd/math.h"

#include "ir/builder.h"
#include "ir/infer.h"

namespace weft::ir::pd {

void LoadMathOps(IrContext& context) {
  AddOps<Relu, Sigmoid, Tanh, Gelu, Cast, Scale, Add, Subtract, Multiply, Divide, MatMul,
         FusedLinear>(context);
}

}  // namespace weft::ir::pd
