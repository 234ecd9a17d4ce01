// EXPECT: source operands must be source tensors
#include "unittests/reject/prelude.h"

void Rule(SourcePattern src, ResultPattern res) {
  auto x = src.Tensor("x");
  auto r = res.Op<ops::Relu>()(x);
  src.Op<ops::Relu>()(r);
}
