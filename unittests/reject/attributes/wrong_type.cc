// EXPECT: (O = weft::ir::ops::Softmax|SlotsOf<weft::ir::ops::Softmax>::Source<long)
// EXPECT-LINES: 8
#include "ir/dialects/onnx/nn/normalization.h"
#include "passes/rules.h"

namespace weft::passes {

WEFT_RULE(Wrong, "none", kExact) {
  auto x = src.Tensor("x");
  src.Op<ops::Softmax>({.axis = "last"})(x);
}

}  // namespace weft::passes
